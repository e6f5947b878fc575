// Package otp issues one-time passwords and verifies them.
//
//	service, err := otp.New(otp.Config{Store: memory.New(0), Secret: secret, Email: sender})
//	id, err := service.Issue(ctx, organizationID, "Example", otp.Request{Type: otp.TypeEmail, Contact: "ann@example.com"})
//	…
//	verified, err := service.Verify(ctx, organizationID, id, typed)
//
// An engine that records activities takes the single steps ([Issue], [Verification]), so that each
// change is part of the store transaction of its activity.
//
// # The life of a code
//
//	Prepare    check the request, draw the code; no side effects
//	Reserve    count the message as sent; store the code's keyed hash, pending
//	Deliver    hand the message to the sender
//	Activate   make the code live              or Failed: kill it, count a failed delivery
//	Attempt    count a try, then compare
//	Consume    use the code up
//
// A message cannot be sent exactly once. If a node dies between Deliver and Activate, the code that
// it sent never becomes live, and the node that takes over sends another one.
//
// # Guarantees
//
// Codes are uniform over their alphabet and drawn from crypto/rand. Only an HMAC-SHA-256 of a code
// is stored, bound to its organization and id, under a secret that is not in the store. A code is
// compared in constant time, after the try has been counted, and works once, however many requests
// try it concurrently and on however many nodes. Wrong, unknown, expired, used and dead codes cause
// the same accesses to the store in the same order and get the same answer ([CodeError]). An unused
// code exists only in its message: no error of this package contains it, and a [Message] that is
// printed or logged shows only its id.
//
// # Encrypted codes
//
// A client can encrypt a code and the public key of its token, so that what relays the
// request can neither read the code nor exchange the key ([Service.TargetBundle], [Encrypt],
// [Service.Open]). The key to encrypt to is derived from the secret for each code and signed
// by a key that clients know. A code that was decrypted is tried like any other. What cannot
// be decrypted is refused without a try, since it guesses nothing: to be compared with a
// code, a guess has to be encrypted for that code's id.
//
// # Guessing
//
// The [Limits] bound how many wrong codes are compared: by default 3 for each code,
// and for each user and each contact 10 an hour and 50 a day over all codes. One user
// alone cannot use up the last try of a contact, so that a contact may get 11 and 51.
// The chance of guessing one user's code in a day:
//
//	length      digits                alphanumeric
//	6           1 in 20,000           1 in 21 million
//	7           1 in 200,000          1 in 690 million
//	8           1 in 2 million        1 in 22 billion
//	9           1 in 20 million       1 in 700 billion
//
// Digits are for text messages, typed on phones. Use 8 or 9 of them if the account
// behind the code is worth a year of guessing.
package otp
