package bench

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
)

// Of BenchmarkHTTPMany.
const (
	tenantCount = 16
	tenantKeys  = 50 // of each tenant
)

// BenchmarkHTTPMany sends token transfers that all differ for 16 organizations with 50 keys and a
// credential each, and the same number for one organization with one key: ours and the other
// server are both as serve ships. The ratio is what many keys leave of the requests per second.
func BenchmarkHTTPMany(b *testing.B) {
	for _, backend := range []string{"memory", "bolt", "postgres"} {
		b.Run(backend, func(b *testing.B) {
			runs, size := measure.Repeats(httpRuns), loadSize(6000)
			var arms []arm
			for _, shape := range []struct{ tenants, keys int }{{tenantCount, tenantKeys}, {1, 1}} {
				arms = append(arms, manyArm(b, backend, shape.tenants, shape.keys, runs*size))
			}
			compareArms(b, storeClients, runs, size, arms[0], arms[1])
		})
	}
}

// manyArm returns a server for some tenants, and requests of each of their keys in turn.
func manyArm(b *testing.B, backend string, tenants, keys, count int) arm {
	b.Helper()
	s := serverSpec(b, backend, enginetest.NewAPIKey(b))
	s.Shipped, s.Keys = true, keys
	w := workload.NewOf(b, workload.Find("ethereum/eip1559"), tenants*keys)
	callers := make([]*enginetest.APIKey, tenants)
	for i := range callers {
		callers[i] = enginetest.NewAPIKey(b)
		s.Tenants = append(s.Tenants, callers[i].PublicKey)
	}
	l := &load{}
	for i := range count {
		at := i % tenants
		key := at*keys + i/tenants%keys
		raw := w.Transaction(i, w.Public[key])
		l.add(callers[at], tenantID(at), w.Requests[key].SignWith, hex.EncodeToString(raw))
	}
	return arm{"one-key", s, l}
}

func tenantID(number int) string { return fmt.Sprintf("tenant-%d", number) }

// tenants returns the organizations of a server.
func (s *spec) tenants() []tenant {
	config := func(publicKey string) access.APIKeyConfig {
		c := access.APIKeyConfig{Curve: stamp.CurveP256, PublicKey: publicKey}
		if s.Lists {
			c.Activities = []activity.Type{activity.TypeSignTransactions}
		}
		return c
	}
	if len(s.Tenants) == 0 {
		return []tenant{{ID: enginetest.Organization, APIKey: config(s.PublicKey), Secrets: []string{enginetest.Secret}}}
	}
	list := make([]tenant, len(s.Tenants))
	for i, publicKey := range s.Tenants {
		list[i] = tenant{ID: tenantID(i), APIKey: config(publicKey)}
		for key := range s.Keys {
			list[i].Secrets = append(list[i].Secrets, hex.EncodeToString(workload.Secret(i*s.Keys+key)))
		}
	}
	return list
}
