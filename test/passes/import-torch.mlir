// RUN: equiforge-opt %s -p 'import-torch{program="mha-prefill:b=1,h=2,s=48,d=20" numerics="strict"}' | filecheck %s --check-prefix=CAUSAL
// RUN: equiforge-opt %s -p 'import-torch{program="sdpa-gqa:small"}' | filecheck %s --check-prefix=GROUPED
// RUN: equiforge-opt %s -p 'import-torch{program="layernorm-gemm:small"}' | filecheck %s --check-prefix=LAYER

builtin.module {}

// A triangle of ones is never made: the mask is a comparison of two indices. Casts stand where eager rounds.
// CAUSAL:      builtin.module attributes {forge.numerics = "strict"}
// CAUSAL-NEXT: func.func @main(%q: tensor<2x48x20xf16> {forge.name = "q"}
// CAUSAL:      [[KT:%.*]] = forge.transpose %k perm [0, 2, 1] {loc = "attention.py:{{[0-9]+}}"}
// CAUSAL-NEXT: [[S:%.*]] = forge.matmul %q, [[KT]]
// CAUSAL-NEXT: [[W:%.*]] = forge.cast [[S]] {{.*}} to tensor<2x48x48xf32>
// CAUSAL-NEXT: [[C:%.*]] = forge.constant {{.*}}0.22360{{.*}} : tensor<1x1x1xf32>
// CAUSAL:      [[I:%.*]] = forge.iota 1 {{.*}} : tensor<1x48x1xi32>
// CAUSAL-NEXT: [[J:%.*]] = forge.iota 2 {{.*}} : tensor<1x1x48xi32>
// CAUSAL-NEXT: [[M:%.*]] = forge.compare ge [[I]], [[J]]
// CAUSAL:      forge.select [[M]], {{.*}} -> tensor<2x48x48xf16>
// CAUSAL:      [[MAX:%.*]] = forge.reduce max over 2 [[X:%.*]] {
// CAUSAL-NEXT: [[D:%.*]] = forge.sub [[X]], [[MAX]]
// CAUSAL-NEXT: [[E:%.*]] = forge.exp [[D]]
// CAUSAL-NEXT: [[Z:%.*]] = forge.reduce sum over 2 [[E]]
// CAUSAL-NEXT: [[P:%.*]] = forge.div [[E]], [[Z]]
// CAUSAL-NEXT: [[H:%.*]] = forge.cast [[P]] {{.*}} to tensor<2x48x48xf16>
// CAUSAL-NEXT: [[O:%.*]] = forge.matmul [[H]], %v
// CAUSAL-NEXT: func.return [[O]]

// Each key/value head serves its group without being repeated; a row whose scores are all -inf is 0.
// GROUPED:     forge.reshape %q {{.*}} -> tensor<1x2x2x8x16xf16>
// GROUPED:     forge.reshape %k {{.*}} -> tensor<1x2x1x64x16xf16>
// GROUPED:     forge.matmul {{.*}} -> tensor<1x2x2x8x64xf32>
// GROUPED-NOT: forge.expand
// GROUPED:     [[U:%.*]] = forge.compare eq
// GROUPED:     forge.select [[U]]
// GROUPED-NOT: forge.expand
// GROUPED:     func.return

// Two passes: the variance is the mean of squared deviations.
// LAYER:      [[MEAN:%.*]] = forge.div
// LAYER-NEXT: [[D:%.*]] = forge.sub [[X:%.*]], [[MEAN]]
// LAYER-NEXT: forge.mul [[D]], [[D]]
// LAYER:      [[R:%.*]] = forge.rsqrt
// LAYER-NEXT: forge.mul [[D]], [[R]]
