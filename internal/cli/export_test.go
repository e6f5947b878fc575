package cli

// NewRoot returns the command without running it.
var NewRoot = newRoot
