package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/rpcapi"
)

// RPC configures the Ethereum JSON-RPC signer: see package rpcapi.
type RPC struct {
	Listen  string    `yaml:"listen"`              // HOST:PORT; its callers have certificates or tokens
	Socket  string    `yaml:"socket" path:"apart"` // path of a unix socket; its callers have a uid
	TLS     *RPCTLS   `yaml:"tls"`                 // of listen
	Hosts   []string  `yaml:"hosts"`               // it is called by, besides its certificate's and loopback's
	ChainID uint64    `yaml:"chainId"`             // that eth_chainId answers; 0: refused
	Users   []RPCUser `yaml:"users"`
}

// RPCTLS names the files of the server's certificate, and of the authorities that issue those
// of its clients.
type RPCTLS struct {
	CertFile     string `yaml:"certFile" path:"file"`
	KeyFile      string `yaml:"keyFile" path:"file"`
	ClientCAFile string `yaml:"clientCAFile" path:"file"`
	MinVersion   string `yaml:"minVersion"` // "1.3", the default, or "1.2" for old clients
}

// RPCUser says how callers are recognized as a user of an organization.
type RPCUser struct {
	User         string               `yaml:"user"`         // name or id
	Organization string               `yaml:"organization"` // its id; may be left out if there is only one
	Certificates []rpcapi.Certificate `yaml:"certificates"`
	TokenFile    string               `yaml:"tokenFile" path:"file"` // mode 0600
	UID          *uint32              `yaml:"uid"`
	Activities   []activity.Type      `yaml:"activities"` // nil: transactions and messages
}

// check refuses what is wrong whatever the files contain.
func (r *RPC) check() error {
	if r == nil {
		return nil
	}
	remote := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return len(u.Certificates) > 0 || u.TokenFile != "" })
	certified := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return len(u.Certificates) > 0 })
	local := slices.ContainsFunc(r.Users, func(u RPCUser) bool { return u.UID != nil })
	for i, host := range r.Hosts {
		if strings.ContainsAny(host, "/@?#*[] ") || host == "" || strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return fmt.Errorf("rpc.hosts[%d]: %q: write the name alone, without scheme and port", i, host)
		}
	}
	switch t := r.TLS; {
	case r.Listen == "" && r.Socket == "":
		return errors.New("rpc needs listen, socket or both")
	case len(r.Users) == 0:
		return errors.New("rpc.users is missing: it says who may call")
	case r.Listen != "" && !remote:
		return errors.New("rpc.listen: no user has certificates or a tokenFile, and any program or page can reach an address, loopback too")
	case r.Socket != "" && !local:
		return errors.New("rpc.socket: no user has a uid")
	case r.Listen == "" && remote:
		return errors.New("rpc.users: certificates and tokens go with rpc.listen")
	case r.Socket == "" && local:
		return errors.New("rpc.users: uid goes with rpc.socket")
	case certified && (t == nil || t.ClientCAFile == ""):
		return errors.New("rpc.users: certificates go with rpc.tls.clientCAFile, the authorities that issue them")
	case t != nil && (t.CertFile == "" || t.KeyFile == ""):
		return errors.New("rpc.tls needs both certFile and keyFile")
	case t != nil && t.MinVersion != "" && t.MinVersion != "1.2" && t.MinVersion != "1.3":
		return fmt.Errorf("rpc.tls.minVersion: expected \"1.2\" or \"1.3\", not %q", t.MinVersion)
	}
	return nil
}
