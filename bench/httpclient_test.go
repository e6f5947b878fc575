package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/bench/internal/measure"
)

// client is a number of concurrent clients over keep-alive connections.
type client struct {
	*http.Client
	url   string
	count int
	token string // of JSON-RPC, instead of a stamp
}

func newClient(url string, count int) *client {
	return &client{&http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: count, MaxIdleConns: count,
		DialContext: (&net.Dialer{}).DialContext, DisableCompression: true,
	}}, url, count, ""}
}

// outcome is what one run measured.
type outcome struct{ perSecond, p50, p99, p999 float64 }

// fire sends all requests of a load. Latencies are in milliseconds.
func (c *client) fire(b *testing.B, l *load) outcome {
	b.Helper()
	latencies := make([]time.Duration, len(l.bodies))
	var next atomic.Int64
	var group sync.WaitGroup
	started := time.Now()
	for range c.count {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.bodies); i = int(next.Add(1)) - 1 {
				before := time.Now()
				if err := c.send(l.bodies[i], l.headers[i]); err != nil {
					b.Error(err)
					return
				}
				latencies[i] = time.Since(before)
			}
		})
	}
	group.Wait()
	elapsed := time.Since(started)
	slices.Sort(latencies)
	quantile := func(share float64) float64 {
		return float64(measure.Quantile(latencies, share).Microseconds()) / 1000
	}
	return outcome{float64(len(l.bodies)) / elapsed.Seconds(), quantile(.5), quantile(.99), quantile(.999)}
}

func (c *client) send(body []byte, header string) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if c.token != "" {
		request.SetBasicAuth("bench", c.token)
		request.Header.Set("Content-Type", "application/json")
	} else {
		request.Header.Set("X-Stamp", header)
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", response.Status)
	}
	return nil
}
