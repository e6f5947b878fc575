// Package kms is the module of key services: keys in a cloud's KMS, or in Vault. Each package is
// a remote.Service over its vendor's Go SDK and credential chain:
//
//	awskms        AWS KMS: secp256k1, Ed25519, P-256
//	vaulttransit  the transit engine of Vault and OpenBao: Ed25519, P-256
//	gcpkms        Google Cloud KMS: secp256k1, Ed25519, P-256
//	azurekms      Azure Key Vault and Managed HSM: secp256k1, P-256
//
// Package remote of the main module is the keystore over them. cmd/countersign-kms is the
// command countersign with all of them. They are a module of their own so that nothing of a
// cloud is required of those who use the main module. docs/kms.md is the manual.
package kms
