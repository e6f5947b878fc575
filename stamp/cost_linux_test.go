package stamp_test

import (
	"crypto/sha256"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// schemeStamp is a valid stamp and the credential that it is by.
type schemeStamp struct {
	credential *stamp.Credential
	header     stamp.Header
}

// stampsOfSchemes returns a stamp over a body by each scheme.
func stampsOfSchemes(b *testing.B, over string) map[string]schemeStamp {
	b.Helper()
	all := map[string]schemeStamp{}
	for _, curve := range []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519} {
		secret := sha256.Sum256([]byte(curve))
		key, err := stamp.NewSigner(curve, secret[:])
		testenv.Must(b, err)
		credential, err := stamp.NewAPIKey(curve, key.PublicKey())
		testenv.Must(b, err)
		header, err := key.Stamp([]byte(over))
		testenv.Must(b, err)
		all["API key "+string(curve)] = schemeStamp{credential, header}
	}
	for kind, one := range passkeys(b, over) {
		all["passkey "+kind] = schemeStamp{passkey(b, []byte("id"), one.coseKey, rpID, origin), one.header(b)}
	}
	return all
}

// How the schemes are compared: rounds in which both verify as often.
const schemeRounds, schemeCalls = 31, 30

// BenchmarkSchemes measures the verification of a stamp by each scheme, from its header, over a
// body of 400 bytes, in alternation with an API key on P-256: the table in docs/performance.md.
//
//	cpu-ns  processor time of the thread, the median of rounds
//	ratio   the median of the ratios to P-256 in the same round
func BenchmarkSchemes(b *testing.B) {
	over := strings.Repeat("x", 400)
	all := stampsOfSchemes(b, over)
	usual := all["API key "+string(stamp.CurveP256)]
	for name, sent := range all {
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took []time.Duration
			var ratios []float64
			for range schemeRounds {
				of, ofUsual := sent.cost(b, over), usual.cost(b, over)
				took, ratios = append(took, of), append(ratios, float64(of)/float64(ofUsual))
			}
			slices.Sort(took)
			slices.Sort(ratios)
			b.ReportMetric(float64(took[len(took)/2]), "cpu-ns")
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cost returns the processor time of a verification.
func (s *schemeStamp) cost(b *testing.B, over string) time.Duration {
	b.Helper()
	before := threadTime(b)
	for range schemeCalls {
		parsed, err := stamp.Parse(s.header)
		testenv.Must(b, err)
		testenv.Must(b, s.credential.Verify(parsed, []byte(over), time.Time{}))
	}
	return (threadTime(b) - before) / schemeCalls
}

func threadTime(b *testing.B) time.Duration {
	b.Helper()
	var at unix.Timespec
	testenv.Must(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at))
	return time.Duration(at.Nano())
}
