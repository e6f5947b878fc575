// Package remote is a keystore for keys that a service holds and uses, such as a cloud's KMS.
//
//	services := remote.Services{"awskms": awskms.New(awskms.Options{})}
//	keys, err := remote.Open(ctx, services, []remote.Pin{{
//		OrganizationID: "org", Name: "hot", URI: "awskms:alias/hot?region=eu-central-1", PublicKey: public,
//	}}, remote.Options{})
//	defer keys.Close()
//
// The package knows no vendor. A [Service] opens keys by URI; a [Key] returns its public key
// and makes signatures. The services of module github.com/countersign-dev/countersign/keystore/kms
// are AWS KMS, Google Cloud KMS, Azure Key Vault, and the transit engine of Vault and OpenBao.
//
// # A key is its public key
//
// Services name a key by an id, a version or an alias, and an administrator of the service can
// point an alias at another key. So a [Pin] has the public key that a person has compared, and
// its addresses never change. Another key at the URI is noticed when the keystore is opened, at
// a check every [RecheckInterval], and by its first signature, because each signature is verified
// under the pinned key before it is returned. From then on the key is refused by its name, and
// listed by [Store.Skipped], until the service has the pinned key again.
//
// The id of a key is computed from its public key, unless the pin has one.
//
// # Failures
//
// Every call to a service ends with its context, and after [Options.Timeout] at the latest. At
// most [Options.Concurrency] calls of one service, or of one site of a [Sited] service, are under
// way at a time; others wait. One that fails makes only its own keys unavailable: [Store.Ready]
// returns an error only if no key can be used.
//
// A caller that gives up gets the error of its context. The service may still make the
// signature: it never leaves this package, and is observed as [Abandoned].
package remote
