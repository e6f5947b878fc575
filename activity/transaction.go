package activity

import "github.com/countersign-dev/countersign/internal/strictjson"

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

// MaxTransactions is how many transactions a list has at most.
const MaxTransactions = 1000

// SignTransactionsIntent asks for a list of transactions to be signed, all or none. Each is
// judged alone, as a SignTransactionIntent.
type SignTransactionsIntent struct {
	Type         TransactionType     `json:"type"`         // of all of them
	Transactions []ListedTransaction `json:"transactions"` // 1 to MaxTransactions
}

// ListedTransaction is a transaction in a list. Its members are those of a SignTransactionIntent.
type ListedTransaction struct {
	SignWith            string `json:"signWith"`
	UnsignedTransaction string `json:"unsignedTransaction"`
}

// At returns the intent to sign one transaction of the list.
func (i SignTransactionsIntent) At(index int) SignTransactionIntent {
	listed := i.Transactions[index]
	return SignTransactionIntent{listed.SignWith, listed.UnsignedTransaction, i.Type}
}

// SignTransactionsResult is the result of a SignTransactionsIntent.
type SignTransactionsResult struct {
	SignedTransactions []string `json:"signedTransactions"` // in the order of the list, as in a SignTransactionResult
}

func (SignTransactionsIntent) ActivityType() Type { return TypeSignTransactions }
func (SignTransactionsResult) ActivityType() Type { return TypeSignTransactions }
func (SignTransactionIntent) ActivityType() Type  { return TypeSignTransaction }
func (SignTransactionResult) ActivityType() Type  { return TypeSignTransaction }

func decodeSignTransaction(parameters *parameterText) (Intent, bool, error) {
	var intent SignTransactionIntent
	proofs, err := parameters.read(
		required("signWith", &intent.SignWith),
		required("unsignedTransaction", &intent.UnsignedTransaction),
		required("type", (*string)(&intent.Type)),
	)
	return intent, proofs, err
}

func decodeSignTransactions(parameters *parameterText) (Intent, bool, error) {
	var intent SignTransactionsIntent
	each := func(reader *strictjson.Reader) error {
		var listed ListedTransaction
		if len(intent.Transactions) == MaxTransactions {
			return NewError(ReasonRequestInvalid, "transactions", nil, "transactions: more than %d: send several lists",
				MaxTransactions)
		}
		err := reader.Object(required("signWith", &listed.SignWith),
			required("unsignedTransaction", &listed.UnsignedTransaction))
		intent.Transactions = append(intent.Transactions, listed)
		return err
	}
	proofs, err := parameters.read(
		required("type", (*string)(&intent.Type)),
		strictjson.Required("transactions", func(reader *strictjson.Reader) error { return reader.Array(each) }),
	)
	return intent, proofs, err
}
