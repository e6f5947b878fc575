package personal

// ParseSignIn reads a sign-in by EIP-4361, or returns nil.
func ParseSignIn(message string) *SignIn { return parseSignIn(message, siwe) }

// ParseTronSignIn reads a sign-in by EIP-4361 with an address of Tron, or returns nil.
func ParseTronSignIn(message string) *SignIn { return parseSignIn(message, siwt) }
