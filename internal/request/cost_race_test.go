//go:build race

package request_test

// costFactor widens the bounds of cost: under the race detector, pools forget at random.
const costFactor = 2
