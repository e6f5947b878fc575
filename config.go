package countersign

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// Config configures an Engine. Only Keystore and Chains are required.
type Config struct {
	// Keystore finds the keys that sign. The engine closes it.
	Keystore keystore.Keystore

	// Wallets are the registered wallets: Bitcoin wallets of several keys, some of them of
	// others, whose inputs and change are the organizations' own. Default: those that the
	// Keystore keeps, if it is a keystore.WalletRegistry.
	Wallets keystore.WalletRegistry

	// AllowHazards names the hazards, such as "ethereum/no-chain-id", that may be
	// signed for every organization. AllHazards allows all. Default: none.
	AllowHazards []string

	// Chains are the chains that the engine signs for. The type of a chain's
	// transactions is TRANSACTION_TYPE_ followed by its name in upper case. A program
	// contains the chains that it lists; package chains/all lists all five.
	Chains []chains.Chain

	// Descriptors reads calls of programs that the chains do not know, such as a folder of package
	// chains/descriptors. A call of which every argument is read is not blind. The reading is shown
	// in addition to the summary and passed to the policy; it changes no effect. Default: none.
	Descriptors chains.Reader

	// Names gives tokens and addresses their names in the sentences about an activity
	// that waits for approvals, such as a Book of package chains/names. Names affect
	// no decision. Default: addresses, and amounts in the smallest unit.
	Names chains.Names

	// ReleaseUnverifiedSignatures turns off the verification of each signature with
	// its public key before it is released. Verifying costs more than signing, but
	// without it a fault in memory, in a library or in an HSM can release a signature
	// that no node accepts, or one that reveals the key.
	// Default: every signature is verified.
	ReleaseUnverifiedSignatures bool

	// The remaining fields are for requests with a stamp, such as Submit, GetActivity
	// and WhoAmI, unless they say otherwise.

	// Directory knows who may send requests. Without it, only the calls that take an
	// intent can be used.
	Directory access.Directory

	// Policy decides who may do what. It judges users: of requests with a stamp, and of
	// calls by Engine.As. Other calls are refused. Default: a credential may submit the
	// activity types that it is registered for.
	Policy access.Policy

	// Store keeps the activities and counts limits. The engine closes it.
	// Default: with a Directory, one in memory with its defaults; otherwise none.
	Store store.Store

	// Log appends each activity that ends, whether completed, rejected or failed, to the
	// transparency log of its organization, in the transaction that records its end: see package
	// translog. Store must be a store.Log. Default: no log.
	Log bool

	// Events are the types of events that are written into the outbox of Store, in the transaction
	// of the activity that they are about: those whose names begin with "activity.". Store must be
	// a store.Outbox, which also hands them out to who delivers them. Default: none.
	Events []activity.EventType

	// LogSigner signs the checkpoint of the log in answers to requests with
	// generateAppProofs; such an answer proves that its activity is in the log. It
	// needs Log. Default: answers carry no such proof.
	LogSigner *translog.Signer

	// Operations are what the engine does besides signing transactions, such as
	// messages.Operations(chains...) for signing messages, and those of package otp/operations for
	// one-time passwords. A program contains what it lists.
	// Default: any other request is refused.
	Operations []operation.Operation

	// ProofSigner signs app proofs and verification tokens. It is an ECDSA key on P-256 and must
	// not be a key of the keystore. Default: a request for them is refused.
	ProofSigner crypto.Signer

	// MaxRequestAge and MaxRequestSkew are how far a request's timestampMs may
	// be behind and ahead of the engine's clock, bounds included.
	// Default: DefaultMaxRequestAge and DefaultMaxRequestSkew.
	MaxRequestAge  time.Duration
	MaxRequestSkew time.Duration

	// AnyRequestTime turns off the check of timestampMs, for machines that receive
	// requests late or have no reliable clock. It needs a store that never forgets an
	// activity, or an old request would be signed again.
	AnyRequestTime bool

	// LeaseTTL is the time after which another node takes over the work of a node that
	// died. A running node renews its lease. Default: DefaultLeaseTTL.
	LeaseTTL time.Duration

	// MaxWaiting is how long an activity waits for its votes, after which the
	// engine rejects it. Default: DefaultMaxWaiting.
	MaxWaiting time.Duration

	// Now is the clock. Default: time.Now.
	Now func() time.Time

	// Logger gets one line for each request, and for each call to sign by a user or under
	// a Policy. Default: none.
	Logger *slog.Logger

	// Observer counts and times requests. Default: none.
	Observer Observer
}

// AllHazards in Config.AllowHazards allows every hazard.
const AllHazards = "all"

// Defaults of Config for submitted requests.
const (
	DefaultMaxRequestAge  = time.Hour
	DefaultMaxRequestSkew = 5 * time.Minute
	DefaultLeaseTTL       = 30 * time.Second
	DefaultMaxWaiting     = 7 * 24 * time.Hour
	DefaultStoreBytes     = memory.DefaultMaxBytes // of a store in memory
)

// MaxRequestWindow bounds Config.MaxRequestAge and Config.MaxRequestSkew.
const MaxRequestWindow = 10 * 365 * 24 * time.Hour

// setDefaults sets the defaults of fields that are not set, and refuses invalid settings.
func (c *Config) setDefaults() error {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if registry, ok := c.Keystore.(keystore.WalletRegistry); ok && c.Wallets == nil {
		c.Wallets = registry
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.MaxRequestAge = cmp.Or(c.MaxRequestAge, DefaultMaxRequestAge)
	c.MaxRequestSkew = cmp.Or(c.MaxRequestSkew, DefaultMaxRequestSkew)
	c.LeaseTTL = cmp.Or(c.LeaseTTL, DefaultLeaseTTL)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, DefaultMaxWaiting)
	if c.Store == nil && c.Directory != nil {
		c.Store = memory.New(DefaultStoreBytes)
	}
	return c.check()
}

func (c *Config) check() error {
	if c.MaxRequestAge < 0 || c.MaxRequestSkew < 0 || c.MaxWaiting < 0 || c.LeaseTTL < time.Second {
		return errors.New("countersign: Config.MaxRequestAge, MaxRequestSkew and MaxWaiting must not be negative, " +
			"and LeaseTTL must be at least a second")
	}
	if c.MaxRequestAge > MaxRequestWindow || c.MaxRequestSkew > MaxRequestWindow {
		return fmt.Errorf("countersign: Config.MaxRequestAge and MaxRequestSkew can be at most %d days: to accept "+
			"requests of any age, set AnyRequestTime", MaxRequestWindow/(24*time.Hour))
	}
	for _, kind := range c.Events {
		if !slices.Contains(activity.EventTypes(), kind) {
			return fmt.Errorf("countersign: Config.Events: unknown type %q: use those of activity.EventTypes", kind)
		}
	}
	if c.LogSigner != nil && !c.Log {
		return errors.New("countersign: Config.LogSigner needs Config.Log: without a log there is nothing to prove")
	}
	if c.ProofSigner == nil {
		return nil
	}
	if pub, ok := c.ProofSigner.Public().(*ecdsa.PublicKey); !ok || pub.Curve != elliptic.P256() {
		return errors.New("countersign: Config.ProofSigner: expected an ECDSA key on P-256")
	}
	return nil
}

// errNoLister is the error of what needs a list of activities.
var errNoLister = errors.New("countersign: Config.Store is no store.Lister")

// checkStore refuses settings that need what the store cannot do, and warns of calls that
// will be refused.
func (c *Config) checkStore(can *store.Capabilities) error {
	_, asks := c.Policy.(access.Decider)
	switch {
	case c.AnyRequestTime && c.Store != nil && can.Forgets:
		return errors.New("countersign: Config.AnyRequestTime needs a Config.Store that is a store.Retention and " +
			"does not forget activities, or an old request would be carried out again: use store/bolt or store/postgres")
	case c.Log && can.Log == nil:
		return errors.New("countersign: Config.Log needs a Config.Store that is a store.Log: use store/bolt, " +
			"store/postgres or store/memory")
	case len(c.Events) > 0 && can.Outbox == nil:
		return errors.New("countersign: Config.Events needs a Config.Store that is a store.Outbox: use store/bolt, " +
			"store/postgres or store/memory")
	case asks && c.Directory != nil && can.Waiter == nil:
		return errors.New("countersign: Config.Policy is an access.Decider, which can demand approvals: " +
			"Config.Store needs to be a store.Waiter, as store/bolt, store/postgres and store/memory are")
	}
	if c.Directory != nil && can.Lister == nil {
		c.Logger.Warn("Config.Store is no store.Lister: list_activities will be refused")
	}
	return nil
}

// Observer counts and times what the engine does. It is called while requests wait and
// must not block.
type Observer interface {
	// Observe is called once for each submitted request and each query, and for each
	// call to sign by a user or under a Policy.
	Observe(observation Observation)
}

// Observation is one request.
type Observation struct {
	OrganizationID string // as the request named it
	UserID         string // of the caller; empty if the stamp was refused

	Operation string          // path of the operation, such as "sign_transaction"; empty if the body did not say
	Reason    activity.Reason // why it was refused; empty if it was not
	Rule      string          // of the policy, if one refused it
	Repeated  bool            // the answer was recorded before
	Waits     bool            // a request, or the one that a vote is on, waits for approvals
	Duration  time.Duration   // of the whole request
	Performed time.Duration   // of signing, or of issuing and delivering a password; 0 if it did not come to that
}
