package bolt

// SetListingStep makes the steps of bringing a file up to date small, and has each followed by
// a call.
func SetListingStep(step int, after func()) { listingStep, stepped = step, after }
