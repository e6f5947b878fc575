package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// Standby creates and starts a streaming replica of the server, until the test ends.
func (p *PostgreSQL) Standby() *PostgreSQL {
	p.t.Helper()
	standby := newPostgres(p.t, p.bin)
	standby.run("pg_basebackup", "-D", standby.data(), "-d", p.DSN+" application_name=standby", "-R", "-X", "stream",
		"-c", "fast", "--no-sync")
	standby.Start()
	p.t.Cleanup(func() { standby.stop("immediate") })
	return standby
}

// Promote makes the replica a primary.
func (p *PostgreSQL) Promote() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "promote")
}

// Folder returns the folder of the server's socket, which is a host in an address.
func (p *PostgreSQL) Folder() string { return p.folder }

// PgBouncer starts a PgBouncer in front of the server, until the test ends, and returns
// the address of its database postgres. It gives each transaction any of a number of
// sessions.
func (p *PostgreSQL) PgBouncer(sessions int) (dsn string) {
	p.t.Helper()
	program := pgBouncer(p.t)
	folder := filepath.Join(p.folder, "bouncer")
	files := map[string]string{
		"users": "\"postgres\" \"\"\n",
		"ini": fmt.Sprintf("[databases]\n* = host=%s port=5432\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = "+
			"%s\nauth_type = trust\nauth_file = %[2]s/users\n"+
			"pool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = %d\nserver_idle_timeout = 1\n",
			p.folder, folder, sessions),
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	command := exec.CommandContext(p.t.Context(), program, filepath.Join(folder, "ini")) // killed before the cleanups
	if os.Getuid() == 0 {
		uid, gid := postgresUser(p.t)
		if err := os.Chown(folder, uid, gid); err != nil {
			p.t.Fatal(err)
		}
		runAs(command, uid, gid)
	}
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = command.Wait() })
	Await(p.t, "PgBouncer listens", func() bool { // the file is there before it does
		connection, err := new(net.Dialer).DialContext(p.t.Context(), "unix", filepath.Join(folder, ".s.PGSQL.6432"))
		return err == nil && connection.Close() == nil
	})
	return "host=" + folder + " port=6432 user=postgres dbname=postgres"
}

// pgBouncer returns the path of the program, which Debian keeps out of the PATH of users.
func pgBouncer(t testing.TB) string {
	t.Helper()
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err == nil {
		return debian
	}
	return Tool(t, "pgbouncer")
}

// postgresUser returns the user as which PostgreSQL's programs run if we are root.
func postgresUser(t testing.TB) (uid, gid int) {
	t.Helper()
	account, err := user.Lookup("postgres")
	if err != nil {
		leaveOut(t, "PostgreSQL does not run as root, and there is no user postgres")
	}
	uid, _ = strconv.Atoi(account.Uid)
	gid, _ = strconv.Atoi(account.Gid)
	return uid, gid
}

// ServeTLS restarts the server so that it also listens on a port of 127.0.0.1, which it
// returns: with TLS only, under a certificate and key in PEM, and with passwords only.
func (p *PostgreSQL) ServeTLS(certificate, key []byte) (port string) {
	p.t.Helper()
	files := map[string][]byte{
		"server.crt": certificate, "server.key": key,
		"pg_hba.conf": []byte("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"),
	}
	for name, content := range files {
		path := filepath.Join(p.data(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			p.t.Fatal(err)
		}
		if os.Getuid() == 0 {
			uid, gid := postgresUser(p.t)
			if err := os.Chown(path, uid, gid); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	_, port, err := net.SplitHostPort(FreeAddress(p.t))
	if err != nil {
		p.t.Fatal(err)
	}
	p.stop("fast")
	p.run("pg_ctl", "-D", p.data(), "-w", "-l", filepath.Join(p.folder, "log"),
		"-o", "-k "+p.folder+" -c listen_addresses=127.0.0.1 -c ssl=on -p "+port, "start")
	return port
}
