// Package rpcapi is an Ethereum remote signer: it serves the JSON-RPC methods that programs
// with an external signer call (geth --signer, the OP stack, Nitro, Web3Signer's and clef's
// clients), over HTTP and over a unix socket. Behind them is the ordinary engine: what is
// signed is read, judged by the policy as the caller's, charged, waits for approvals and is
// recorded, as if it had been submitted with a stamp.
//
//	handler := rpcapi.New(engine, rpcapi.Options{…})
//	server := httpapi.NewServer(handler)
//
// # Methods
//
//	eth_signTransaction [transaction]            0x… of the signed transaction
//	account_signTransaction [transaction]        {raw, tx}; a second string, as clef takes it, is ignored
//	eth_signTypedData, …_v4 [address, data]      65 bytes; data: an object or its JSON text
//	personal_sign [data, address]                65 bytes; data: the bytes of a text, in hex; a third string, a password, is ignored
//	eth_sign [address, data]                     the same
//	account_signData [type, address, data]       text/plain, data/typed, data/validator
//	eth_accounts, account_list []                addresses of the organization's keys
//	eth_chainId []                               the configured chain
//	account_version, health_status []            of clef and op-signer
//	GET /upcheck                                 OK
//
// Signatures are r, s and v, which is 27 or 28.
//
// # Transactions
//
// A transaction object is turned into the one unsigned encoding of its type, which package
// chains/ethereum reads like any other. The members decide the type: authorizationList
// makes it 4, blobVersionedHashes, maxFeePerBlobGas or blobs 3, maxFeePerGas 2, accessList
// 1, otherwise it is 0; a member type must agree. Nothing is filled in: from, chainId,
// nonce, gas and the fees must be there. null is as good as absent. What contradicts
// itself is refused with the name of the member (-32602). Integers are as in the execution
// API, hex without leading zeros. With blobs, commitments and proofs in the object, the
// signed transaction carries its sidecar.
//
// # Callers
//
// A caller is a user of the directory, recognized by a client certificate, by a token, or
// on a unix socket by the uid of its process: see [Users]. Requests that a page in a browser
// could send are refused.
//
// # Again
//
// The same transaction, or message, by the same user with the same key is the same request:
// it is answered from its record and charged once. One that waits for approvals is answered
// with the error -32000, the reason CONSENSUS_NEEDED and the id of the activity, until it
// has its votes.
//
// # Errors
//
//	-32700, -32600   the body is no JSON, or no request
//	-32601           the method is not served
//	-32602           a parameter is missing, malformed or contradicts another; data.field names it
//	-32000           refused by the engine; data.reason is that of the API, see docs/api.md
//
// The server is a strict reader of its own and not go-ethereum's package rpc, which takes
// unknown and duplicate members, and tells a method nothing of the caller's certificate.
package rpcapi
