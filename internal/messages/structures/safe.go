package structures

// messagesOfSafes are messages in the name of a Safe, often hashes.
var messagesOfSafes = []structure{{"SafeMessage(bytes message)", safeMessage}}

func safeMessage(r *reading) {
	index := r.undecoded()
	if len(r.field("message").Bytes) == 32 {
		r.danger(HazardHiddenContents, index, "the Safe's message is 32 bytes, like a hash whose preimage is unknown")
	}
}
