package remote

import (
	"fmt"
	"io"
	"net/http"
)

// MaxAnswer bounds the body of a service's answer, in bytes. Public keys and signatures have a
// few hundred.
const MaxAnswer = 1 << 20

// Bounded returns a transport for a service's client. It follows no redirect, which would take
// the client's credentials to another address, and fails to read an answer beyond MaxAnswer.
func Bounded(over http.RoundTripper) http.RoundTripper { return bounded{over} }

type bounded struct{ over http.RoundTripper }

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.over.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 == 3 {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the service redirects (%d), which is not followed: configure the address that it names", answer.StatusCode)
	}
	answer.Body = &boundedBody{answer.Body, MaxAnswer}
	return answer, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("an answer of more than %d bytes", MaxAnswer)
	}
	return n, err
}
