package countersign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// Config configures an Engine. Only Keystore is required.
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

	// Names are what the sentences about an activity that waits for approvals call
	// tokens and addresses, such as a Book of package chains/names. They decide
	// nothing. Default: addresses, and amounts in the smallest unit.
	Names chains.Names

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

	// Submitter is the user that calls without a stamp are judged and recorded as:
	// SignTransaction, SignMessage and the others that take an intent. They are
	// recorded in Store, with the scheme LOCAL, and charged to the limits of a
	// Policy that is a Decider; what needs approvals is refused. Default: those
	// calls are not recorded, and with a Policy, which judges users, they are
	// refused.
	Submitter *User

	// Store keeps the activities, and counts limits. The engine closes it.
	// Default: with a Directory one in memory, with its defaults; otherwise none.
	Store store.Store

	// Log appends each completed activity to the log of its organization, in the
	// transaction that records it: package translog. It takes a Store that is a
	// store.Log. Default: no log.
	Log bool

	// LogSigner signs the checkpoint of the log in answers whose request has
	// generateAppProofs: the answer then proves that its activity is in the log. It
	// needs Log. Default: answers carry no such proof.
	LogSigner *translog.Signer

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

	// Logger gets one line for each request, and for each call to sign where there is
	// a Policy or a Submitter. Default: none.
	Logger *slog.Logger

	// Observer counts and times. Default: none.
	Observer Observer
}

// AllHazards in Config.AllowHazards allows every hazard there is.
const AllHazards = "all"

// Defaults of Config for submitted requests.
const (
	DefaultMaxRequestAge  = time.Hour
	DefaultMaxRequestSkew = 5 * time.Minute
	DefaultLeaseTTL       = 30 * time.Second
	DefaultMaxWaiting     = 7 * 24 * time.Hour
	DefaultVoteAge        = 24 * time.Hour         // for which a vote counts where its rule does not say
	DefaultStoreBytes     = memory.DefaultMaxBytes // of a store in memory
)

// MaxRequestWindow bounds Config.MaxRequestAge and Config.MaxRequestSkew.
const MaxRequestWindow = 10 * 365 * 24 * time.Hour

// setDefaults fills in what the configuration leaves out, and refuses what cannot
// be right.
func (c *Config) setDefaults() error {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Directory == nil && c.Store == nil {
		return nil
	}
	setDefault(&c.MaxRequestAge, DefaultMaxRequestAge)
	setDefault(&c.MaxRequestSkew, DefaultMaxRequestSkew)
	setDefault(&c.LeaseTTL, DefaultLeaseTTL)
	setDefault(&c.MaxWaiting, DefaultMaxWaiting)
	if c.Store == nil && c.OTP != nil {
		return errors.New("countersign: Config.OTP needs Config.Store: the store that it was made over")
	}
	if c.Store == nil {
		c.Store = memory.New(DefaultStoreBytes)
	}
	return c.checkSubmission()
}

func setDefault(value *time.Duration, other time.Duration) {
	if *value == 0 {
		*value = other
	}
}

func (c *Config) checkSubmission() error {
	if c.MaxRequestAge < 0 || c.MaxRequestSkew < 0 || c.MaxWaiting < 0 || c.LeaseTTL < time.Second {
		return errors.New("countersign: Config.MaxRequestAge, MaxRequestSkew and MaxWaiting cannot be negative, nor LeaseTTL less than a second")
	}
	if c.MaxRequestAge > MaxRequestWindow || c.MaxRequestSkew > MaxRequestWindow {
		return fmt.Errorf("countersign: Config.MaxRequestAge and MaxRequestSkew can be at most %d days: for requests of any age set AnyRequestTime", MaxRequestWindow/(24*time.Hour))
	}
	if c.AnyRequestTime && c.Store.Forgets() {
		return errors.New("countersign: Config.AnyRequestTime: the store forgets activities, and an old request would be carried out again: use store/bolt or store/postgres")
	}
	if _, ok := c.Store.(store.Log); c.Log && !ok {
		return errors.New("countersign: Config.Log: the store keeps no log: use store/bolt, store/postgres or store/memory")
	}
	if c.LogSigner != nil && !c.Log {
		return errors.New("countersign: Config.LogSigner needs Config.Log: without a log there is nothing to prove")
	}
	if c.ProofSigner == nil {
		return nil
	}
	if pub, ok := c.ProofSigner.Public().(*ecdsa.PublicKey); !ok || pub.Curve != elliptic.P256() {
		return errors.New("countersign: Config.ProofSigner: an ECDSA key on P-256 is expected")
	}
	return nil
}
