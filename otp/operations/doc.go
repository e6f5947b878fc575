// Package operations lets an engine issue and redeem one-time passwords: it turns the
// activities about them into steps of a service of package otp.
//
//	codes, err := otp.New(otp.Config{Store: records, Secret: secret, Email: sender})
//	passwords := operations.New(codes, proofSigner)
//	engine, err := countersign.New(countersign.Config{Store: records, Operations: passwords.Operations(), …})
//
// Each change to a code is then part of the store transaction of its activity, so that
// a code is sent and redeemed once, whatever fails.
package operations
