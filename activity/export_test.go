package activity

// Bounds returns the bounds of a request's strings.
func Bounds() map[string]int { return bounds }
