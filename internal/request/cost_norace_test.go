//go:build !race

package request_test

// costFactor is what the bounds of cost are multiplied by.
const costFactor = 1
