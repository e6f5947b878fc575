package testenv

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// PostgreSQL is a PostgreSQL server of one test, on a Unix socket.
type PostgreSQL struct {
	DSN string

	t      testing.TB
	bin    string
	folder string
}

// Postgres makes a new cluster in a folder of its own, starts it, and stops it
// when the test ends.
func Postgres(t testing.TB) *PostgreSQL {
	t.Helper()
	Slow(t)
	bin := postgresBin()
	if bin == "" {
		leaveOut(t, "PostgreSQL is not installed: its initdb and pg_ctl are looked for in PATH and /usr/lib/postgresql")
	}
	folder, err := os.MkdirTemp("", "countersign-pg") // a short path: a socket's has room for 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &PostgreSQL{t: t, bin: bin, folder: folder, DSN: "host=" + folder + " user=postgres dbname=postgres"}
	p.giveToPostgres()
	p.run("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	p.Start()
	t.Cleanup(func() { p.stop("immediate") })
	return p
}

// Start starts the server and waits until it answers.
func (p *PostgreSQL) Start() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "-l", filepath.Join(p.folder, "log"),
		"-o", "-k "+p.folder+" -c listen_addresses='' -c max_connections=50", "start")
}

// Stop ends the server and breaks its connections.
func (p *PostgreSQL) Stop() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "-m", "fast", "stop")
}

// Crash ends the server as a loss of power would.
func (p *PostgreSQL) Crash() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "-m", "immediate", "stop")
}

func (p *PostgreSQL) data() string { return filepath.Join(p.folder, "data") }

// stop stops the server if it runs.
func (p *PostgreSQL) stop(mode string) {
	_ = p.command("pg_ctl", "-D", p.data(), "-w", "-m", mode, "stop").Run()
}

func (p *PostgreSQL) run(program string, args ...string) {
	p.t.Helper()
	// pg_ctl leaves the server its output: a pipe would stay open.
	output, err := os.Create(filepath.Join(p.t.TempDir(), "output"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	command := p.command(program, args...)
	command.Stdout, command.Stderr = output, output
	if err := command.Run(); err != nil {
		said, _ := os.ReadFile(output.Name())
		logged, _ := os.ReadFile(filepath.Join(p.folder, "log"))
		p.t.Fatalf("%s: %v\n%s%s", program, err, said, logged)
	}
}

// command runs a program of PostgreSQL; those refuse to run as root.
func (p *PostgreSQL) command(program string, args ...string) *exec.Cmd {
	line := append([]string{filepath.Join(p.bin, program)}, args...)
	if os.Getuid() == 0 {
		line = append([]string{"runuser", "-u", "postgres", "--"}, line...)
	}
	command := exec.Command(line[0], line[1:]...)
	command.Dir = p.folder
	return command
}

// giveToPostgres makes the folder that of the user postgres, if we are root.
func (p *PostgreSQL) giveToPostgres() {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		leaveOut(p.t, "PostgreSQL does not run as root, and there is no user postgres")
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	if err := os.Chown(p.folder, uid, gid); err != nil {
		p.t.Fatal(err)
	}
}

// postgresBin finds the folder of PostgreSQL's programs: the newest in
// Debian's place, else that of PATH.
func postgresBin() string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Sort(folders)
	slices.Reverse(folders)
	if inPath, err := exec.LookPath("pg_ctl"); err == nil {
		folders = append(folders, filepath.Dir(inPath))
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err == nil {
			return folder
		}
	}
	return ""
}
