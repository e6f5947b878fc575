// Package descriptors reads transactions with knowledge that is not in their bytes: ERC-7730
// descriptors (version 2), contract ABIs of Ethereum and Tron, IDLs of Solana programs (Anchor 0.30
// and later, Codama 1), and the contents of Solana's address lookup tables.
//
//	pins, err := descriptors.ReadPins(file)
//	folder, err := descriptors.Open(os.DirFS("descriptors"), descriptors.Options{Pins: pins})
//	reading, ok := folder.Read(call) // a chains.Reader
//
// A [chains.Reading] of a call is shown in addition to the summary. It never changes an
// effect, a summary or its digest. A lookup table resolves accounts in the effects, and
// does not change the summary or its digest either.
//
// # Trust
//
// No file is used just because it is in the folder. A file is trusted if the user's [Pins] contain
// the digest of its merged form: an included file says as much as the file itself.
//
// # Bounds
//
// Files are parsed strictly: duplicate members, numbers that are not integers and ERC-7730 versions
// other than 2 are refused, and depth, size and counts are bounded. A descriptor is bound to chains
// and addresses. One with a condition that cannot be checked offline (a factory, a proxy, a state
// reference, an encrypted value) is not used, and the reading says so. Function keys may have a
// space after commas, as in the registry of ERC-7730, although the specification forbids it.
package descriptors
