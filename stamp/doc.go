// Package stamp authenticates requests. A stamp is a signature over exactly the bytes of
// a request's body, by a key that the organization has registered.
//
//	sent, err := stamp.Parse(stamp.Header{Name: "X-Stamp", Value: value})
//	credential := …                                // registered under sent.CredentialID()
//	err = credential.Verify(sent, body, time.Now())
//
// # API keys
//
// The header X-Stamp has base64url of a JSON object with the members
// publicKey, scheme and signature, in any order:
//
//	scheme                                        signature over                            encoded
//	SIGNATURE_SCHEME_TK_API_P256                  SHA-256(body)                             DER, hex
//	SIGNATURE_SCHEME_TK_API_SECP256K1             SHA-256(body)                             DER, hex
//	SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191      Keccak-256(EIP-191 prefix ‖ body)         DER, hex
//	SIGNATURE_SCHEME_TK_API_ED25519               body                                      r ‖ s, hex
//
// # Passkeys
//
// The header X-Stamp-Webauthn, or X-Stamp, has a JSON object with the members
// authenticatorData, clientDataJson, credentialId and signature, plain or in
// base64url. It is a WebAuthn assertion (Level 2, section 7.2) whose challenge
// is the lower-case hex of SHA-256(body). Keys are COSE keys of ES256, RS256 or
// EdDSA. The signature counter is ignored: synced passkeys send 0.
//
// # Strictness
//
// Encodings are canonical: hex is lower-case, base64 has no stray bits, DER is DER. High s
// is accepted, because some authenticators produce it. That a second valid signature can be
// derived from a first is harmless, because a request is identified by its body alone.
package stamp
