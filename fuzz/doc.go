// Package fuzz has the fuzz targets. The properties that must hold for any input are:
// nothing panics; only the canonical encoding is accepted; what is signed contains the
// bytes that came in; other libraries agree, except for differences that a target lists.
//
//	make fuzz TIME=10m                            every target of the module
//	go test -fuzz '^FuzzEthereumParse$' ./fuzz    one target
//
// Seeds are the vectors of each package's testdata and the inputs in testdata/fuzz, which
// go test replays: a few small ones per target that long runs have found, and every input
// that once exposed a bug. The go command writes a failing input there; commit it with the
// fix.
//
// # Targets
//
// Transactions, and what the reader is compared with:
//
//	FuzzEthereumParse       chains/ethereum, internal/rlp   accepts what go-ethereum does, but for listed differences; recovers the signer
//	FuzzEthereumGenerated   the engine                             signs to the bytes that go-ethereum signs to
//	FuzzEthereumCalldata    internal/evm                    different calldata is shown differently
//	FuzzEthereumSignWith    addresses with the checksum of EIP-55  go-ethereum accepts the same addresses; a key signs only for its own
//	FuzzUnsign              signed transactions of Ethereum, Tempo  the signer is the sender that go-ethereum recovers
//	FuzzTempoParse          chains/tempo                           accepts what the model does; keeps the items; recovers to the signer
//	FuzzTempoGenerated      the engine                             signs to the bytes that the model signs to
//	FuzzSolanaParse         chains/solana, compact-u16             solana-go encodes to the same bytes, and its Sanitize passes
//	FuzzSolanaSign          chains/solana                          one slot is filled, with the signature of crypto/ed25519
//	FuzzSolanaSignWith      base58 addresses                       solana-go reads the same addresses
//	FuzzSolanaTables        lookup tables with any contents        the summary and its digest do not change
//	FuzzTronParse           chains/tron, protobuf                  Google's library writes the same bytes; the hash of raw_data is signed
//	FuzzTronStructure       the same, field by field               what no encoder writes is refused
//	FuzzTronSignWith        base58check addresses                  btcd reads the same addresses; a key signs only for its own
//	FuzzBitcoinPSBT         internal/psbt                            written back the same; btcd reads the same amounts and scripts
//	FuzzBitcoinStructure    the same, record by record             valid ones are accepted, ones that break a rule refused
//	FuzzBitcoinSign         chains/bitcoin                         signatures are added, nothing else changes
//	FuzzBitcoinMessage      messages of BIP-322                    shown whole or refused; refused with another text in the same PSBT
//	FuzzBitcoinTransaction  the transactions that inputs spend     btcd writes the same, with the same id and outputs
//	FuzzBitcoinAddress      base58check and bech32 addresses       an address or an id
//	FuzzSignRequest         the engine, addresses, hex, any chain  a result, or an error that is the caller's fault
//	FuzzDecodeHex           hex of a transaction                   encodes to the same text
//	FuzzDecimal             amounts as shown                       only the decimal point moves
//
// Requests and their authentication:
//
//	FuzzHTTP                httpapi: path, headers, body           no internal errors; no result without a valid stamp
//	FuzzStrictJSON          internal/strictjson                    encoding/json reads the same
//	FuzzActivityDecode      the body of a request                  encoding/json reads the same; the bytes are kept
//	FuzzActivityQuery       the body of a query                    encoding/json reads the same
//	FuzzActivityRecord      a record in a store                    what is read can be answered
//	FuzzAppProof            the payload of a signed proof          what was read is read alike when written again
//	FuzzStampParse          the header of a stamp                  names its credential; does not authenticate
//	FuzzStampPasskey        client and authenticator data, signed  this body, this party, this origin, user present
//	FuzzStampCOSEKey        a passkey's COSE key                   can be used to verify
//	FuzzPublicKey           SEC 1 points, Ed25519 points           btcec reads the same points
//
// One-time passwords and stores:
//
//	FuzzOTPService          the service, operation by operation    a model: outcomes, limits and waiting times
//	FuzzOTPRequest          every parameter of an e-mail           headers of one line, no injected HTML, a code that verifies
//	FuzzOTPBundle           the encrypted code of verify_otp       refused as a bundle, or encrypted to the key of this code
//	FuzzOTPText             every parameter of a text message      sent to the digits of the contact, a code that verifies
//	FuzzOTPMeter            a meter in a store                     encodes to the same bytes
//	FuzzOTPToken            a signed token                         ES256, valid at the time, names its owner
//	FuzzWebhookSignature    the signature's header                 only one is valid
//	FuzzStoreMemory         store/memory, operation by operation   a model: leases, tokens, changes, records
//	FuzzStoreBolt           store/bolt                             the same
//
// Keys:
//
//	FuzzKeystoreKeyFile         a key file                         only what was written
//	FuzzKeystoreAuthenticFile   its metadata and payload, sealed   one form of each
//	FuzzKeystoreIdentity        identity.age                       only the passphrase opens it; hostile work factors cost nothing
//	FuzzKeyformatWIF            WIF                                btcutil reads the same key
//	FuzzKeyformatSolana         Solana's keypair file              solana-go reads the same key
//	FuzzKeyformatPKCS8          PKCS#8                             contains the key that is written back
//	FuzzKeyformatWeb3           Web3 Secret Storage                the key that was encrypted
//	FuzzKeyformatHex            a key in hex                       encodes to the same digits
//	FuzzWalletMnemonic          BIP-39 words                       the words of one entropy
//	FuzzWalletExtendedKey       extended private keys (BIP-32)     written back unchanged; btcutil reads the same key
//	FuzzWalletPath              BIP-32 paths                       written back unchanged
//	FuzzPKCS11URI               PKCS#11 URIs                       bounded; a PIN is refused and not repeated
//
// Other packages have targets of their own: FuzzCall in internal/evm, FuzzRead in
// internal/cli/config, internal/cli/lines and internal/wiretext,
// FuzzRead in messages and, in internal/messages, FuzzParse in eip712 (compared with apitypes),
// structures, personal and delegation (compared with go-ethereum), FuzzSignIn in personal,
// FuzzOffchain and FuzzRaw in solanamsg, FuzzParse in bip137. What libraries read has no target: the answers of
// a mail server (go-mail), of a database (pgx) and of a token (miekg/pkcs11).
package fuzz
