//go:build !race

package countersign_test

// costFactor is what the bounds of cost are multiplied by.
const costFactor = 1
