package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

// model is the simplest store there can be: maps, one caller, no clock of its own.
// [Play] compares real stores with it.
type model struct {
	leases  map[requestKey]held
	records map[requestKey]store.Activity
	ids     map[nameKey]store.Activity
	ledgers map[string]modelLedger // by organization
	tokens  map[store.Token]bool   // of all leases
}

type (
	requestKey struct {
		organization string
		fingerprint  store.Fingerprint
	}
	nameKey struct{ organization, id string }
	held    struct {
		token store.Token
		over  time.Time // when it runs out
	}
)

func newModel() *model {
	return &model{
		tokens: map[store.Token]bool{}, leases: map[requestKey]held{}, records: map[requestKey]store.Activity{},
		ids: map[nameKey]store.Activity{}, ledgers: map[string]modelLedger{},
	}
}

// holds reports whether the lease was neither taken over nor ended.
func (m *model) holds(lease store.Lease) bool {
	current, ok := m.leases[requestKey{lease.OrganizationID, lease.Fingerprint}]
	return ok && current.token == lease.Token
}

// ledger returns the one-time passwords of an organization.
func (m *model) ledger(organizationID string) modelLedger {
	if _, ok := m.ledgers[organizationID]; !ok {
		m.ledgers[organizationID] = modelLedger{map[string]otpledger.Code{}, map[otpledger.MeterKey]otpledger.Meter{}}
	}
	return m.ledgers[organizationID]
}

// record records an activity and ends its lease.
func (m *model) record(lease store.Lease, activity store.Activity) {
	key := requestKey{lease.OrganizationID, lease.Fingerprint}
	delete(m.leases, key)
	activity.Revision = m.records[key].Revision + 1
	m.records[key] = activity
	m.ids[nameKey{lease.OrganizationID, activity.ID}] = activity
}

// modelLedger is an otpledger.Ledger that writes immediately.
type modelLedger struct {
	codes  map[string]otpledger.Code
	meters map[otpledger.MeterKey]otpledger.Meter
}

var _ otpledger.Ledger = modelLedger{}

func (l modelLedger) clone() modelLedger {
	return modelLedger{maps.Clone(l.codes), maps.Clone(l.meters)}
}

// Meters implements otpledger.Ledger.
func (l modelLedger) Meters(keys ...otpledger.MeterKey) (meters []otpledger.Meter, _ error) {
	for _, key := range keys {
		meter := l.meters[key]
		meter.Sent = slices.Clone(meter.Sent)
		meters = append(meters, meter)
	}
	return meters, nil
}

// SetMeter implements otpledger.Ledger.
func (l modelLedger) SetMeter(key otpledger.MeterKey, meter otpledger.Meter) error {
	l.meters[key] = meter
	return nil
}

// Code implements otpledger.Ledger.
func (l modelLedger) Code(id string) (otpledger.Code, error) {
	code, ok := l.codes[id]
	if !ok {
		return otpledger.Code{}, otp.ErrUnknown
	}
	return code, nil
}

// Insert implements otpledger.Ledger.
func (l modelLedger) Insert(code otpledger.Code) error {
	l.codes[code.ID] = code
	return nil
}

// Try implements otpledger.Ledger.
func (l modelLedger) Try(id string, by store.Fingerprint, most int,
	now time.Time) (otpledger.Code, otpledger.Try, error) {
	code, ok := l.codes[id]
	switch {
	case !ok:
		return otpledger.Code{}, otpledger.TryRefused, nil
	case code.State != otpledger.StateLive || !now.Before(code.ExpiresAt):
		return code, otpledger.TryRefused, nil
	case slices.Contains(code.Tried, by):
		return code, otpledger.TryRepeated, nil
	case len(code.Tried) >= most:
		return code, otpledger.TryRefused, nil
	}
	code.Tried = append(slices.Clone(code.Tried), by)
	l.codes[id] = code
	return code, otpledger.TryCounted, nil
}

// Move implements otpledger.Ledger.
func (l modelLedger) Move(id string, from, to otpledger.State) (bool, error) {
	code, ok := l.codes[id]
	if !ok || code.State != from {
		return false, nil
	}
	code.State = to
	l.codes[id] = code
	return true, nil
}
