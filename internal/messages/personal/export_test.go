package personal

// ReadSignIn reads a sign-in as the messages of Ethereum do, nil if the text is none.
func ReadSignIn(text string) *SignIn { return signInOf([]byte(text), siwe) }

// ReadTronSignIn is ReadSignIn for the messages of Tron.
func ReadTronSignIn(text string) *SignIn { return signInOf([]byte(text), siwt) }
