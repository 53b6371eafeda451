// RUN: %tile_opt %s --split-input-file --convert-gpu-memory-to-host -verify-diagnostics

func.func @passed_on(%c: i1) {
  // expected-error @+1 {{gives a token to an op that is not of the dialect gpu, which is not followed}}
  %t = gpu.wait async
  cf.br ^next(%t : !gpu.async.token)
^next(%u: !gpu.async.token):
  gpu.wait [%u]
  return
}
