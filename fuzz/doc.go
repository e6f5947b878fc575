// Package fuzz holds the fuzz targets, and the properties that must hold whatever
// the bytes are: nothing panics; what is accepted is in the one canonical
// encoding; what leaves signed holds the bytes that came in; other libraries
// agree, but for differences that the target lists.
//
//	make fuzz TIME=10m                            every target of the module
//	go test -fuzz '^FuzzEthereumParse$' ./fuzz    one target
//
// Seeds are the vectors of each package's testdata and the inputs in
// testdata/fuzz, which go test replays: a few small ones for each target that
// long runs found, and every input that once broke something. The go command
// writes a failing input there itself; commit it with the fix.
//
// # Which target reads what
//
// Transactions, with the library that the reader is held against:
//
//	FuzzEthereumParse       chains/ethereum, chains/internal/rlp   accepts what go-ethereum does, but for listed differences; recovers to the signer
//	FuzzEthereumGenerated   the engine                             signs to the bytes that go-ethereum signs to
//	FuzzEthereumCalldata    chains/internal/evm                    other calldata is shown otherwise
//	FuzzEthereumSignWith    addresses with the checksum of EIP-55  go-ethereum takes the same addresses; a key signs at its own
//	FuzzTempoParse          chains/tempo                           accepts what the model does; keeps the items; recovers to the signer
//	FuzzTempoGenerated      the engine                             signs to the bytes that the model signs to
//	FuzzSolanaParse         chains/solana, compact-u16             solana-go encodes to the same bytes, and its Sanitize passes
//	FuzzSolanaSign          chains/solana                          one slot is filled, as crypto/ed25519 signs
//	FuzzSolanaSignWith      base58 addresses                       solana-go reads the same addresses
//	FuzzSolanaTables        lookup tables with any contents        the summary and its digest do not change
//	FuzzTronParse           chains/tron, protobuf                  Google's Protocol Buffers write the same bytes; the hash of raw_data is signed
//	FuzzTronStructure       the same, field by field               what no encoder writes is refused
//	FuzzTronSignWith        base58check addresses                  btcd reads the same addresses; a key signs at its own
//	FuzzBitcoinPSBT         internal/psbt                            written back the same; btcd sees the same transaction, amounts and scripts
//	FuzzBitcoinStructure    the same, record by record             what keeps the rules is accepted, what breaks one refused
//	FuzzBitcoinSign         chains/bitcoin                         signatures are added, nothing else changes
//	FuzzBitcoinMessage      messages of BIP-322                    shown whole or refused; no other text, and never none, in the same PSBT
//	FuzzBitcoinTransaction  the transactions that inputs spend     btcd writes the same, with the same id and outputs
//	FuzzBitcoinAddress      base58check and bech32 addresses       an address or an id
//	FuzzSignRequest         the engine, addresses, hex, any chain  a result, or a refusal that is the caller's
//	FuzzDecodeHex           hex of a transaction                   written again the same
//	FuzzDecimal             amounts as they are shown              the point moves, the number stays
//
// Requests and who sent them:
//
//	FuzzHTTP                httpapi: path, headers, body           never fails inside; no result without a good stamp
//	FuzzStrictJSON          internal/strictjson                    one reading only; encoding/json has the same
//	FuzzActivityDecode      the body of a request                  encoding/json reads the same; the bytes are kept
//	FuzzActivityQuery       the body of a query                    encoding/json reads the same
//	FuzzActivityRecord      a record in a store                    what is read can be answered
//	FuzzAppProof            the payload of a signed proof          what was read is read again
//	FuzzStampParse          the header of a stamp                  says of whom it is; lets no one in
//	FuzzStampPasskey        client and authenticator data, signed  this body, this party, this origin, user present
//	FuzzStampCOSEKey        a passkey's COSE key                   can be verified with
//	FuzzPublicKey           SEC 1 points, Ed25519 points           btcec reads the same points
//
// One-time passwords and stores:
//
//	FuzzOTPService          the service, operation by operation    a model of lists: outcomes, limits and waiting times
//	FuzzOTPRequest          every parameter of an e-mail           headers of one line, no HTML of theirs, a code that verifies
//	FuzzOTPText             every parameter of a text message      sent to the digits that were given, a code that verifies
//	FuzzOTPMeter            a meter in a store                     written again the same
//	FuzzOTPToken            a signed token                         ES256, in time, whose it is
//	FuzzWebhookSignature    the signature's header                 none is guessed
//	FuzzStoreMemory         store/memory, operation by operation   a model of maps: leases, tokens, changes, records
//	FuzzStoreBolt           store/bolt                             the same
//
// Keys:
//
//	FuzzKeystoreKeyFile         a key file                         what was written and nothing else
//	FuzzKeystoreAuthenticFile   its metadata and payload, sealed   one form of each
//	FuzzKeystoreIdentity        identity.age                       the passphrase opens it, and work factors cost nothing
//	FuzzKeyformatWIF            WIF                                btcutil reads the same key
//	FuzzKeyformatSolana         Solana's keypair file              solana-go reads the same key
//	FuzzKeyformatPKCS8          PKCS#8                             the key that is written again
//	FuzzKeyformatWeb3           Web3 Secret Storage                the key that was sealed
//	FuzzKeyformatHex            a key in hex                       the same digits again
//	FuzzWalletMnemonic          BIP-39 words                       one entropy, whose words those are
//	FuzzWalletExtendedKey       extended private keys (BIP-32)     written again the same; btcutil reads the same key
//	FuzzWalletPath              BIP-32 paths                       written again the same
//	FuzzPKCS11URI               PKCS#11 URIs                       bounded; a PIN is refused, and not repeated
//
// In their packages are FuzzCall in chains/internal/evm, FuzzRead in
// cmd/countersign/internal/config and cmd/countersign/internal/lines, and the targets
// of messages: FuzzRead of any payload in messages; in internal/messages FuzzParse of
// eip712 (against apitypes), structures, personal and delegation (against go-ethereum),
// FuzzSignIn of personal, FuzzOffchain and FuzzRaw of solanamsg. What is left to
// libraries has no target: the answers of a mail server (go-mail), of a database (pgx)
// and of a token (miekg/pkcs11).
package fuzz
