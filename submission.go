package countersign

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

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

// SweepInterval is how often the engine has the store remove what has expired,
// as long as requests come.
const SweepInterval = time.Minute

// submitted is what an engine needs for requests with a stamp.
type submitted struct {
	Config
	sweeping  *sync.WaitGroup
	lastSweep *atomic.Int64 // UnixNano
}

func newSubmitted(config Config) (submitted, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Directory == nil {
		return submitted{Config: config}, nil
	}
	setDefault(&config.MaxRequestAge, DefaultMaxRequestAge)
	setDefault(&config.MaxRequestSkew, DefaultMaxRequestSkew)
	setDefault(&config.LeaseTTL, DefaultLeaseTTL)
	setDefault(&config.MaxWaiting, DefaultMaxWaiting)
	if config.Store == nil && config.OTP != nil {
		return submitted{}, errors.New("countersign: Config.OTP needs Config.Store: the store that it was made over")
	}
	if config.Store == nil {
		config.Store = memory.New(DefaultStoreBytes)
	}
	if err := config.checkSubmission(); err != nil {
		return submitted{}, err
	}
	made := submitted{Config: config, sweeping: new(sync.WaitGroup), lastSweep: new(atomic.Int64)}
	made.lastSweep.Store(config.Now().UnixNano())
	return made, nil
}

func setDefault(value *time.Duration, other time.Duration) {
	if *value == 0 {
		*value = other
	}
}

func (s *Config) checkSubmission() error {
	if s.MaxRequestAge < 0 || s.MaxRequestSkew < 0 || s.MaxWaiting < 0 || s.LeaseTTL < time.Second {
		return errors.New("countersign: Config.MaxRequestAge, MaxRequestSkew and MaxWaiting cannot be negative, nor LeaseTTL less than a second")
	}
	if s.MaxRequestAge > MaxRequestWindow || s.MaxRequestSkew > MaxRequestWindow {
		return fmt.Errorf("countersign: Config.MaxRequestAge and MaxRequestSkew can be at most %d days: for requests of any age set AnyRequestTime", MaxRequestWindow/(24*time.Hour))
	}
	if s.AnyRequestTime && s.Store.Forgets() {
		return errors.New("countersign: Config.AnyRequestTime: the store forgets activities, and an old request would be carried out again: use store/bolt or store/postgres")
	}
	if _, ok := s.Store.(store.Log); s.Log && !ok {
		return errors.New("countersign: Config.Log: the store keeps no log: use store/bolt, store/postgres or store/memory")
	}
	if s.ProofSigner == nil {
		return nil
	}
	if pub, ok := s.ProofSigner.Public().(*ecdsa.PublicKey); !ok || pub.Curve != elliptic.P256() {
		return errors.New("countersign: Config.ProofSigner: an ECDSA key on P-256 is expected")
	}
	return nil
}

func (s *submitted) close() error {
	if s.Store == nil {
		return nil
	}
	err := s.Store.Close()
	if s.sweeping != nil {
		s.sweeping.Wait()
	}
	return err
}

// sweep has the store swept beside the request that finds it is time to, and sees
// to the activities that wait.
func (e *Engine) sweep() {
	s := &e.submitted
	now, last := s.Now(), s.lastSweep.Load()
	if now.UnixNano()-last < int64(SweepInterval) || !s.lastSweep.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	s.sweeping.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), SweepInterval)
		defer cancel()
		if _, err := s.Store.Sweep(ctx, now); err != nil {
			s.Logger.Error("sweep of the store", "cause", err)
		}
		if err := e.ResumeWaiting(ctx); err != nil {
			s.Logger.Error("activities that wait", "cause", err)
		}
	})
}
