package postgres_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// proxy stands between stores and a server, and asks what becomes of each
// statement before it goes on.
type proxy struct {
	listener net.Listener
	socket   string // of the server

	mu    sync.Mutex
	judge func(statement string) verdict

	rewrite func(statement string) string // what the server is sent; nil: the same
}

// verdict is what becomes of a statement.
type verdict int

const (
	passes     verdict = iota
	isLost             // the connection breaks before the statement arrives
	losesReply         // the connection breaks before the answer does
	isHeld             // it does not arrive, and there is no answer until the client gives up
)

// through puts a proxy in front of a server, and returns the address that leads through it to
// where dsn leads.
func through(t *testing.T, dsn string) (p *proxy, address string) {
	t.Helper()
	to, err := pgx.ParseConfig(dsn)
	testenv.Must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	p = &proxy{listener: listener, socket: fmt.Sprintf("%s/.s.PGSQL.%d", to.Host, to.Port)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return p, fmt.Sprintf("%s host=127.0.0.1 port=%d sslmode=disable", dsn, listener.Addr().(*net.TCPAddr).Port)
}

// at lets a statement be judged, the nth from now on, and the others pass. It
// returns whether there was one.
func (p *proxy) at(n int, judge func(statement string) verdict) (met func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	p.judge = func(statement string) verdict {
		if strings.HasPrefix(statement, "--") { // the pool's own, to see whether a connection is alive
			return passes
		}
		if count++; count == n {
			return judge(statement)
		}
		return passes
	}
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.judge = nil
		return count >= n
	}
}

func (p *proxy) verdict(statement string) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if statement == "" || p.judge == nil {
		return passes
	}
	return p.judge(statement)
}

// serve lets a connection through. The two sides take turns.
func (p *proxy) serve(fromClient net.Conn) {
	defer fromClient.Close()
	toServer, err := net.Dial("unix", p.socket)
	if err != nil {
		return
	}
	defer toServer.Close()
	client, server := pgproto3.NewBackend(fromClient, fromClient), pgproto3.NewFrontend(toServer, toServer)
	start, err := client.ReceiveStartupMessage()
	if _, ok := start.(*pgproto3.StartupMessage); !ok || err != nil {
		return // asks to cancel a statement: it is late
	}
	server.Send(start)
	statements := map[string]string{} // by the names that the client gives them
	for relay(server, client) {
		statement, ok := p.takeTurn(client, server, statements)
		if !ok {
			return
		}
		switch p.verdict(statement) {
		case isLost:
			return
		case losesReply:
			relay(server, pgproto3.NewBackend(nil, io.Discard))
			return
		case isHeld:
			_, _ = client.Receive()
			return
		}
	}
}

// takeTurn reads what the client sends before it waits for an answer, and
// returns the statement that is to be carried out, if one is.
func (p *proxy) takeTurn(client *pgproto3.Backend, server *pgproto3.Frontend,
	statements map[string]string) (statement string, ok bool) {
	for {
		message, err := client.Receive()
		if err != nil {
			return "", false
		}
		switch message := message.(type) {
		case *pgproto3.Parse:
			if p.rewrite != nil {
				message.Query = p.rewrite(message.Query)
			}
		case *pgproto3.Query:
			if p.rewrite != nil {
				message.String = p.rewrite(message.String)
			}
		}
		server.Send(message)
		switch message := message.(type) {
		case *pgproto3.Parse:
			statements[message.Name] = message.Query
		case *pgproto3.Bind:
			statement = statements[message.PreparedStatement]
		case *pgproto3.Query:
			return message.String, true
		case *pgproto3.Sync:
			return statement, true
		case *pgproto3.CopyDone, *pgproto3.CopyFail:
			return "the end of what is copied in", true
		case *pgproto3.Terminate:
			return "", false
		}
	}
}

// relay sends the server what is its, and passes the answer on: whether there
// was a whole one.
func relay(server *pgproto3.Frontend, client *pgproto3.Backend) (whole bool) {
	_ = server.Flush() // if it has gone, it may have said why
	for !whole {
		message, err := server.Receive()
		if err != nil {
			break
		}
		client.Send(message)
		switch message.(type) {
		case *pgproto3.ReadyForQuery, *pgproto3.CopyInResponse:
			whole = true
		}
	}
	return client.Flush() == nil && whole
}
