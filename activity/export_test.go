package activity

// Bounds returns the bound of every string of a request.
func Bounds() map[string]int { return bounds }
