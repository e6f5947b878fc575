package otpledger

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MeterKey identifies a [Meter]: a keyed hash of a user, a contact or the organization.
type MeterKey [sha256.Size]byte

// Tag returns what identifies a user in the events of a contact's meter.
func (k MeterKey) Tag() uint64 { return binary.BigEndian.Uint64(k[:8]) }

// Meter records what counts towards the limits of one user, contact or organization: messages sent,
// deliveries failed, wrong codes tried, and the codes that are live. The zero Meter is empty.
type Meter struct {
	Sent   []Event
	Failed []Event
	Tried  []Event
	Live   []LiveCode // oldest first
	Until  int64      // milliseconds since the epoch: the events are of no use afterwards
}

// Event is something that counted towards a limit.
type Event struct {
	At int64  // milliseconds since the epoch
	By uint64 // the user: MeterKey.Tag
	N  uint32 // how many at once
}

// LiveCode is a code that its user may still type in.
type LiveCode struct {
	ID        string
	By        uint64 // the user: MeterKey.Tag
	ExpiresAt int64  // milliseconds since the epoch
}

// KeepUntil returns when the meter may be swept.
func (m *Meter) KeepUntil() time.Time {
	until := m.Until
	for _, code := range m.Live {
		until = max(until, code.ExpiresAt)
	}
	return time.UnixMilli(until).UTC()
}

const meterVersion = 1

// Append appends the stored form of the meter:
//
//	version (1) ‖ until 8
//	3 × { count uvarint, count × { at 8, by 8, n 4 } }    sent, failed, tried
//	count uvarint, count × { length 1, id, by 8, expiresAt 8 }
//
// with numbers in big-endian order and times in milliseconds since the epoch.
func (m *Meter) Append(out []byte) []byte {
	out = append(out, meterVersion)
	out = binary.BigEndian.AppendUint64(out, uint64(m.Until))
	for _, events := range [][]Event{m.Sent, m.Failed, m.Tried} {
		out = binary.AppendUvarint(out, uint64(len(events)))
		for _, event := range events {
			out = binary.BigEndian.AppendUint64(out, uint64(event.At))
			out = binary.BigEndian.AppendUint64(out, event.By)
			out = binary.BigEndian.AppendUint32(out, event.N)
		}
	}
	out = binary.AppendUvarint(out, uint64(len(m.Live)))
	for _, code := range m.Live {
		out = append(out, byte(len(code.ID)))
		out = append(out, code.ID...)
		out = binary.BigEndian.AppendUint64(out, code.By)
		out = binary.BigEndian.AppendUint64(out, uint64(code.ExpiresAt))
	}
	return out
}

// ParseMeter reads what Append wrote. Empty input is an empty meter.
func ParseMeter(in []byte) (Meter, error) {
	var m Meter
	if len(in) == 0 {
		return m, nil
	}
	if in[0] != meterVersion {
		return m, fmt.Errorf("otp: the meter has version %d, which this program does not support", in[0])
	}
	r := meterReader{in: in[1:]}
	m.Until = int64(binary.BigEndian.Uint64(r.take(8)))
	m.Sent, m.Failed, m.Tried = r.events(), r.events(), r.events()
	m.Live = r.live()
	if r.short || len(r.in) > 0 {
		return Meter{}, errors.New("otp: the meter is damaged: its lengths do not match its size")
	}
	return m, nil
}

// meterReader reads numbers from the front of in; short is set once it runs out.
type meterReader struct {
	in    []byte
	short bool
}

func (r *meterReader) take(n int) []byte {
	if n > len(r.in) || r.short {
		r.short = true
		return make([]byte, n)
	}
	out := r.in[:n]
	r.in = r.in[n:]
	return out
}

// count reads how many items of at least size bytes follow, and fails if there are
// not enough bytes for them.
func (r *meterReader) count(size int) int {
	n, length := binary.Uvarint(r.in)
	padded := length > 1 && r.in[length-1] == 0
	if r.short || length <= 0 || padded || n > uint64((len(r.in)-length)/size) {
		r.short = true
		return 0
	}
	r.in = r.in[length:]
	return int(n)
}

func (r *meterReader) events() []Event {
	events := make([]Event, r.count(20))
	for i := range events {
		raw := r.take(20)
		events[i] = Event{
			At: int64(binary.BigEndian.Uint64(raw)),
			By: binary.BigEndian.Uint64(raw[8:]),
			N:  binary.BigEndian.Uint32(raw[16:]),
		}
	}
	return slices.Clip(events)
}

func (r *meterReader) live() []LiveCode {
	codes := make([]LiveCode, r.count(17))
	for i := range codes {
		id := string(r.take(int(r.take(1)[0])))
		raw := r.take(16)
		codes[i] = LiveCode{
			ID:        id,
			By:        binary.BigEndian.Uint64(raw),
			ExpiresAt: int64(binary.BigEndian.Uint64(raw[8:])),
		}
	}
	return codes
}
