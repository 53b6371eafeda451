// A question about a convolution that its kernel and its model both ask. Part of lib/search; kind.h is the way in.
#pragma once

#include "lib/search/operator.h"

// The operand without windows has k outside of them (weights f, c, r, s): k is walked around the window, so that what
// a cache line holds of the weights is used while it is there.
bool tileWindowWalksDepthAround(const TileOperator *op);
