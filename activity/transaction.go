package activity

// TransactionType is the API's name for the chain of a transaction.
type TransactionType string

// The transaction types of the API.
const (
	TransactionTypeEthereum TransactionType = "TRANSACTION_TYPE_ETHEREUM"
	TransactionTypeSolana   TransactionType = "TRANSACTION_TYPE_SOLANA"
	TransactionTypeTron     TransactionType = "TRANSACTION_TYPE_TRON"
	TransactionTypeBitcoin  TransactionType = "TRANSACTION_TYPE_BITCOIN"
	TransactionTypeTempo    TransactionType = "TRANSACTION_TYPE_TEMPO"
)

// SignTransactionIntent asks for a transaction to be signed. It has the parameters of a
// sign_transaction request (signTransactionIntentV2).
type SignTransactionIntent struct {
	// SignWith is an address of the key on the transaction's chain, or the key's id.
	SignWith string `json:"signWith"`

	// UnsignedTransaction is the raw unsigned transaction: hex in any case,
	// with or without 0x. For Bitcoin a PSBT.
	UnsignedTransaction string `json:"unsignedTransaction"`

	// Type names the chain.
	Type TransactionType `json:"type"`
}

// SignTransactionResult is the result of a SignTransactionIntent (signTransactionResult).
type SignTransactionResult struct {
	// SignedTransaction is lower-case hex without 0x.
	SignedTransaction string `json:"signedTransaction"`
}

// ActivityType implements Intent.
func (SignTransactionIntent) ActivityType() Type { return TypeSignTransaction }

// ActivityType implements Result.
func (SignTransactionResult) ActivityType() Type { return TypeSignTransaction }

func decodeSignTransaction(parameters *parameterText) (Intent, bool, error) {
	var intent SignTransactionIntent
	var kind []byte
	proofs, err := parameters.read(
		required("signWith", &intent.SignWith),
		required("unsignedTransaction", &intent.UnsignedTransaction),
		required("type", &kind),
	)
	intent.Type = transactionTypeOf(kind)
	return intent, proofs, err
}

// transactionTypeOf returns a type that a body names, without a copy if it is known.
func transactionTypeOf(text []byte) TransactionType {
	for _, known := range [...]TransactionType{
		TransactionTypeEthereum, TransactionTypeSolana, TransactionTypeTron, TransactionTypeBitcoin, TransactionTypeTempo,
	} {
		if string(known) == string(text) {
			return known
		}
	}
	return TransactionType(text)
}
