// Package otp issues one-time passwords and verifies them.
//
//	service, err := otp.New(otp.Config{Store: memory.New(0), Secret: secret, Email: sender})
//	id, err := service.Issue(ctx, organizationID, "Example", otp.Request{Type: otp.TypeEmail, Contact: "ann@example.com"})
//	…
//	verified, err := service.Verify(ctx, organizationID, id, typed)
//
// An engine that records activities uses the steps that Issue and Verify are
// made of ([Issue], [Verification]), so that a change rides in the store
// transaction of its activity.
//
// # The life of a code
//
//	Prepare    the request is checked; the code is drawn; nothing has happened yet
//	Reserve    the message is counted as sent; the code is stored, pending: only its keyed hash
//	Deliver    the sender hands the message on
//	Activate   the code is live                     or Failed: it is dead, and counted as undelivered
//	Attempt    a try is counted, then compared
//	Consume    the code is used
//
// A message cannot be sent exactly once. A node that dies between Deliver and
// Activate leaves a message whose code never comes alive; the node that takes over
// sends another one.
//
// # What is promised
//
// Codes are uniform over their alphabet, drawn from crypto/rand. Only an
// HMAC-SHA-256 of a code is stored, bound to its organization and its id, under
// a secret that is not in the store. A code is compared in constant time, after
// the try was counted, and used once, however many try at once and on however
// many nodes. Whether a code is wrong, unknown, expired, used or dead, the store
// is asked for the same things in the same order and the answer is the same
// ([CodeError]). An unused code is in its message and nowhere else: no error of
// this package shows it, and a [Message] that is printed or logged shows its id.
//
// # Guessing
//
// The [Limits] bound how many wrong codes are compared: with the defaults 3 for
// each code, and for each user 10 in an hour and 50 in a day over all codes. Of
// a contact's 10 and 50 one user alone cannot use up the last one, which makes
// 11 and 51 at most. So much is a day of guessing at one user's codes worth:
//
//	length      digits                alphanumeric
//	6           1 in 20,000           1 in 21 million
//	7           1 in 200,000          1 in 690 million
//	8           1 in 2 million        1 in 22 billion
//	9           1 in 20 million       1 in 700 billion
//
// Digits are for text messages to people who type with their thumbs; take 8 or 9
// of them where what is behind the code is worth a year of guessing.
package otp
