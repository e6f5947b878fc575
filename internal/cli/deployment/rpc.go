package deployment

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/rpcapi"
)

// RPCState is what SIGHUP changes of the JSON-RPC signer.
type RPCState struct {
	Users       *rpcapi.Users
	Certificate *tls.Certificate // nil without TLS
	hosts       []string
}

// newRPCState reads it. It is nil if no signer is configured.
func newRPCState(ctx context.Context, configured *config.Config) (*RPCState, error) {
	r := configured.RPC
	if r == nil {
		return nil, nil
	}
	users, err := rpcUsers(ctx, configured)
	if err != nil {
		return nil, configured.AtPath(err)
	}
	state := &RPCState{Users: users, hosts: r.Hosts}
	if r.TLS == nil {
		return state, nil
	}
	if state.Certificate, err = loadCertificate(&config.TLS{CertFile: r.TLS.CertFile, KeyFile: r.TLS.KeyFile}); err != nil {
		return nil, configured.At("rpc.tls", fmt.Errorf("rpc.tls: %w", err))
	}
	return state, nil
}

// Still returns the state without the callers that the next one lacks: all of them if it is
// nil, because the listeners stay until a restart.
func (s *RPCState) Still(next *RPCState) *RPCState {
	if s == nil {
		return nil
	}
	kept, users := *s, new(rpcapi.Users)
	if next != nil {
		users = next.Users
	}
	kept.Users = s.Users.Still(users)
	return &kept
}

// Serves reports whether a request's Host names this server: a name of loopback, one that is
// configured, or one of the certificate. A page that rebinds its own name to loopback sends that name.
func (s *RPCState) Serves(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	is := func(host string) bool { return strings.EqualFold(host, name) }
	if weborigin.IsLoopback(name) || slices.ContainsFunc(s.hosts, is) {
		return true
	}
	return s.Certificate != nil && s.Certificate.Leaf != nil && s.Certificate.Leaf.VerifyHostname(name) == nil
}

func rpcUsers(ctx context.Context, c *config.Config) (*rpcapi.Users, error) {
	var roots *x509.CertPool
	if t := c.RPC.TLS; t != nil && t.ClientCAFile != "" {
		var err error
		if roots, err = readAuthorities(t.ClientCAFile); err != nil {
			return nil, fmt.Errorf("rpc.tls.clientCAFile: %w", err)
		}
	}
	users := make([]rpcapi.User, len(c.RPC.Users))
	for i := range c.RPC.Users {
		user, err := rpcUser(ctx, c, &c.RPC.Users[i])
		if err != nil {
			return nil, fmt.Errorf("rpc.users[%d]: %w", i, err)
		}
		users[i] = user
	}
	made, err := rpcapi.NewUsers(users, roots)
	if err != nil {
		return nil, fmt.Errorf("rpc.%w", err)
	}
	return made, nil
}

func rpcUser(ctx context.Context, c *config.Config, configured *config.RPCUser) (user rpcapi.User, err error) {
	organization, err := c.Organization(configured.Organization)
	if err != nil {
		return user, errors.New("organization: name one by its id")
	}
	user = rpcapi.User{OrganizationID: organization.ID, UID: configured.UID, Activities: configured.Activities,
		Certificates: configured.Certificates}
	for i := range organization.Users {
		id := organization.Users[i].UserID(organization.ID)
		if named := configured.User; user.UserID == "" && (named == organization.Users[i].Name || named == id) {
			user.UserID = id
		}
	}
	if user.UserID == "" || configured.User == "" {
		return user, fmt.Errorf("user %q: organization %s has no user with this name or id", configured.User, organization.ID)
	}
	if configured.TokenFile != "" {
		token, err := console.ReadSecretFile(ctx, configured.TokenFile)
		if err != nil {
			return user, fmt.Errorf("tokenFile: %w", err)
		}
		user.Token = string(token)
	}
	return user, nil
}

// CheckSocket refuses a path at which no unix socket can be made: in a folder that does not
// exist, or where something else is, or that is too long for the system.
func CheckSocket(path string) error {
	if path == "" {
		return nil
	}
	if longest := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > longest {
		return fmt.Errorf("%s has %d bytes, and the path of a unix socket at most %d: choose a shorter one", path, len(path), longest)
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err == nil && !folder.IsDir() {
		err = fmt.Errorf("%s is no folder", filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = fmt.Errorf("%s exists and is no socket: remove it, or choose another path", path)
	}
	return err
}
