package countersign

import (
	"context"
	"crypto"
	"errors"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// Config is what an engine is made of. Only Keystore is required.
type Config struct {
	// Keystore finds the keys that sign. The engine closes it.
	Keystore keystore.Keystore

	// AllowHazards names the hazards that may be signed, for every
	// organization, such as "ethereum/no-chain-id"; AllHazards allows all.
	// Default: none.
	AllowHazards []string

	// Chains are the chains that the engine signs for. A chain's transactions
	// have the type TRANSACTION_TYPE_ and its name in upper case.
	// Default: Chains(Limits{}).
	Chains []chains.Chain

	// Descriptors reads calls of programs that the chains do not know, such as a
	// folder of package chains/descriptors. A call of which every argument is read
	// is not a blind one; what it says is shown beside the summary and known to the
	// policy, and changes no effect. Default: none.
	Descriptors chains.Reader

	// ReleaseUnverifiedSignatures turns off the check of every signature under
	// its public key before it is released, which costs more than making it.
	// What is given up: a fault in memory, in a library or in an HSM then gets
	// out as a signature that no node takes, or one that gives the key away.
	// Default: every signature is verified.
	ReleaseUnverifiedSignatures bool

	// The rest is for requests with a stamp: Submit, GetActivity and WhoAmI.

	// Directory knows who may send requests. Without it there are only the
	// calls that take an intent.
	Directory Directory

	// Policy decides who may do what. It needs a Directory or a Submitter: the
	// users that it judges. Default: a credential may submit the activity types
	// that it is registered for.
	Policy Policy

	// Submitter is the user that calls without a stamp are judged as:
	// SignTransaction and PrepareTransaction. Default: with a Policy those calls
	// are refused, as a Policy judges users.
	Submitter *User

	// Store keeps the activities. The engine closes it.
	// Default: one in memory, with its defaults.
	Store store.Store

	// Log appends each completed activity to the log of its organization, in the
	// transaction that records it: package translog. It takes a Store that is a
	// store.Log. Default: no log.
	Log bool

	// OTP is the service for one-time passwords, made over the same Store.
	// Default: requests for them are refused.
	OTP *otp.Service

	// ProofSigner makes app proofs and verification tokens: an ECDSA key on
	// P-256 that is none of the keys in the keystore. Default: a request for
	// them is refused.
	ProofSigner crypto.Signer

	// MaxRequestAge and MaxRequestSkew are how far a request's timestampMs may
	// be behind and ahead of the engine's clock, bounds included.
	// Default: DefaultMaxRequestAge and DefaultMaxRequestSkew.
	MaxRequestAge  time.Duration
	MaxRequestSkew time.Duration

	// AnyRequestTime turns the check of timestampMs off, for machines that get
	// their requests late or have no clock to trust. It takes a store that
	// keeps everything: one that forgets would sign an old request again.
	AnyRequestTime bool

	// LeaseTTL is after what time another node takes over the work of one that
	// died. A living one renews its lease. Default: DefaultLeaseTTL.
	LeaseTTL time.Duration

	// MaxWaiting is how long an activity waits for its votes, after which the
	// engine rejects it. Default: DefaultMaxWaiting.
	MaxWaiting time.Duration

	// Now is the clock. Default: time.Now.
	Now func() time.Time

	// Logger gets one line for each request. Default: none.
	Logger *slog.Logger

	// Observer counts and times. Default: none.
	Observer Observer
}

// AllHazards in Config.AllowHazards allows every hazard there is.
const AllHazards = "all"

// Engine validates intents and carries them out. It is safe for concurrent
// use. Its errors are of type *activity.Error.
type Engine struct {
	keys       keystore.Keystore
	chains     chainTable
	allowed    allowance
	unverified bool
	reader     chains.Reader
	submitted  submitted
}

// New makes an engine. It returns an error if the configuration cannot be
// right.
func New(config Config) (*Engine, error) {
	if config.Keystore == nil {
		return nil, errors.New("countersign: Config.Keystore is missing: use keystore/memory or keystore/file")
	}
	if config.Policy != nil && config.Directory == nil && config.Submitter == nil {
		return nil, errors.New("countersign: Config.Policy could never be asked: it judges users, who come from Config.Directory or Config.Submitter")
	}
	table, err := newChainTable(config.Chains)
	if err != nil {
		return nil, err
	}
	allowed, err := newAllowance(config.AllowHazards, table)
	if err != nil {
		return nil, err
	}
	submitted, err := newSubmitted(config)
	if err != nil {
		return nil, err
	}
	return &Engine{
		keys:       config.Keystore,
		chains:     table,
		allowed:    allowed,
		unverified: config.ReleaseUnverifiedSignatures,
		reader:     config.Descriptors,
		submitted:  submitted,
	}, nil
}

// Close closes the keystore, overwriting the secrets it holds, and the store.
// It waits for signatures that are being made.
func (e *Engine) Close() error { return errors.Join(e.keys.Close(), e.submitted.close()) }

// SignTransaction signs a transaction with a key of the organization, if it is
// well-formed and all its hazards are allowed.
func (e *Engine) SignTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	prepared, err := e.PrepareTransaction(ctx, organizationID, intent)
	if err != nil {
		return activity.SignTransactionResult{}, err
	}
	return prepared.Sign(ctx)
}

// refuseTransaction turns an error of a chain or a key into the caller's.
func refuseTransaction(err error) error {
	var parse *chains.ParseError
	var signer *chains.SignerError
	switch {
	case errors.As(err, &parse) && errors.Is(parse, chains.ErrUnsupported):
		return activity.NewError(activity.ReasonUnsupportedTransactionType, fieldTransaction, err, "%v", err)
	case errors.As(err, &parse):
		return activity.NewError(activity.ReasonInvalidTransaction, fieldTransaction, err, "%v", err)
	case errors.As(err, &signer) && errors.Is(signer, chains.ErrNotSigner):
		return activity.NewError(activity.ReasonNotFound, fieldSignWith, err, "%v", err)
	case errors.As(err, &signer):
		return activity.NewError(activity.ReasonRequestInvalid, fieldSignWith, err, "%v", err)
	case errors.Is(err, keystore.ErrUnsupported):
		return activity.NewError(activity.ReasonRequestInvalid, fieldSignWith, err, "%v", err)
	}
	return refuseKey(err)
}

// refuseKey turns an error of the keystore into the caller's, without its
// text: it may tell of files, devices and slots.
func refuseKey(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the request ended before the key had signed: %v", err)
	case errors.Is(err, keystore.ErrClosed):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the keystore is closed: the engine is shutting down")
	case errors.Is(err, keystore.ErrWithdrawn):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the key was taken out of use, or changed, while the request was carried out: send the request again")
	case errors.Is(err, keystore.ErrUnavailable):
		return activity.NewError(activity.ReasonUnavailable, "", err, "the keystore cannot be reached now")
	case errors.Is(err, keystore.ErrSignatureCheck):
		return activity.NewError(activity.ReasonInternal, "", err, "the key's backend made a signature that does not verify; it was not released")
	}
	return activity.NewError(activity.ReasonInternal, "", err, "the key could not be used")
}
