// Package descriptors reads transactions with what is known beside the bytes: ERC-7730
// descriptors (version 2), contract ABIs of Ethereum and Tron, IDLs of Solana programs
// (Anchor from 0.30, Codama 1), and the contents of Solana's address lookup tables.
//
//	pins, err := descriptors.ReadPins(file)
//	folder, err := descriptors.Open(os.DirFS("descriptors"), descriptors.Options{Pins: pins})
//	reading, ok := folder.Read(call) // a chains.Reader
//
// What it says of a call is a [chains.Reading]: a second list beside the summary. It
// never changes an effect, a digest of a summary, or a field. A lookup table says which
// accounts the effects name, and changes neither the summary nor its digest.
//
// # Trust
//
// Nothing of a folder is used because it is there. A file is trusted if the
// digest of its merged form stands in the user's [Pins], or if an attestation (EAS
// offchain, ERC-8176) by one of the user's auditors covers the file, and each file
// that it includes is covered too: an attestation is of one file alone, and what
// it includes says as much as it does. Attestations that were revoked are revoked on
// chain, which is not looked at. A lookup table must be pinned.
//
// # Bounds
//
// Files are read strictly: no member twice, integers only, depth, size and number
// bounded, versions other than 2 refused. A descriptor is bound to chains and
// addresses. One with a condition that cannot be checked here (a factory, a proxy,
// a state reference, an encrypted value) counts as none, and the reading says so.
// Keys of functions are read as ERC-7730's registry writes them: with a space
// behind commas, which the specification forbids.
package descriptors
