package testenv

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// PostgreSQL is a PostgreSQL server for one test, on a Unix socket.
type PostgreSQL struct {
	DSN string

	t      testing.TB
	bin    string
	folder string
}

// Postgres creates and starts a new cluster in a temporary folder, until the test ends.
func Postgres(t testing.TB) *PostgreSQL {
	t.Helper()
	Slow(t)
	bin := postgresBin()
	if bin == "" {
		leaveOut(t, "PostgreSQL is not installed: initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql")
	}
	p := newPostgres(t, bin)
	p.initialize()
	p.Start()
	t.Cleanup(func() { p.stop("immediate") })
	return p
}

// initialize makes a new cluster: a copy of one that is kept in dist/test, which takes a fifth of the
// processor time of initdb. Its name has a dot in front, and so has that of the folder which is gone
// when it is kept: go list ./... in another test fails for a folder that it finds and cannot read.
func (p *PostgreSQL) initialize() {
	p.t.Helper()
	version, err := p.command("initdb", "--version").Output()
	if err != nil {
		p.t.Fatal(err)
	}
	args := []string{"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"}
	hash := sha256.Sum256(fmt.Append(version, args, os.Getuid())) // that of another user has another owner
	kept := filepath.Join(Root(), "dist", "test", fmt.Sprintf(".cluster-%x", hash[:8]))
	if _, err := os.Stat(kept); err == nil {
		p.copyCluster(kept, p.data())
		return
	}
	p.run("initdb", append(args, "-D", p.data())...)
	err = os.MkdirAll(filepath.Dir(kept), 0o755)
	temporary, tempErr := os.MkdirTemp(filepath.Dir(kept), ".cluster")
	if err = errors.Join(err, tempErr); err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	p.copyCluster(p.data(), filepath.Join(temporary, "data"))
	if err := os.Rename(filepath.Join(temporary, "data"), kept); err != nil && !errors.Is(err, fs.ErrExist) {
		p.t.Fatal(err) // unless another test was first
	}
}

// copyCluster copies a cluster that no server runs on, with its owner and its rights.
func (p *PostgreSQL) copyCluster(from, to string) {
	p.t.Helper()
	if out, err := exec.Command("cp", "-Rp", from, to).CombinedOutput(); err != nil {
		p.t.Fatalf("cp: %v\n%s", err, out)
	}
}

// newPostgres returns a server without a cluster, in a folder that exists until the test ends.
func newPostgres(t testing.TB, bin string) *PostgreSQL {
	t.Helper()
	folder, err := os.MkdirTemp("", "countersign-pg") // a short path: that of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &PostgreSQL{t: t, bin: bin, folder: folder, DSN: "host=" + folder + " user=postgres dbname=postgres"}
	p.giveToPostgres()
	return p
}

// Start starts the server and waits until it answers. In a test it does not wait for the disk: what the
// kernel has outlives every process that a test kills. A benchmark waits, as in production.
func (p *PostgreSQL) Start() {
	p.t.Helper()
	options := "-k " + p.folder + " -c listen_addresses='' -c max_connections=200"
	if _, test := p.t.(*testing.T); test {
		options += " -c fsync=off"
	}
	p.run("pg_ctl", "-D", p.data(), "-w", "-l", filepath.Join(p.folder, "log"), "-o", options, "start")
}

// Stop shuts the server down and breaks its connections.
func (p *PostgreSQL) Stop() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "-m", "fast", "stop")
}

// Crash stops the server without a checkpoint, so that it recovers from its log.
func (p *PostgreSQL) Crash() {
	p.t.Helper()
	p.run("pg_ctl", "-D", p.data(), "-w", "-m", "immediate", "stop")
}

// Log returns the log of the server.
func (p *PostgreSQL) Log() string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.folder, "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// PID returns the process of the server, whose children serve the connections.
func (p *PostgreSQL) PID() int {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.data(), "postmaster.pid"))
	if err != nil {
		p.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		p.t.Fatal(err)
	}
	return pid
}

// Kill kills all processes of the server, the parent first, so that it restarts none.
// What they had not written is lost.
func (p *PostgreSQL) Kill() {
	p.t.Helper()
	server := p.PID()
	children := childrenOf(server)
	for _, pid := range append([]int{server}, children...) {
		process, err := os.FindProcess(pid)
		if err == nil {
			err = process.Kill()
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			p.t.Fatal(err)
		}
	}
	for _, pid := range append([]int{server}, children...) {
		for alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
	// If no process reaps orphans, their process ids look alive.
	for _, lock := range []string{filepath.Join(p.data(), "postmaster.pid"), filepath.Join(p.folder, ".s.PGSQL.5432.lock")} {
		if err := os.Remove(lock); err != nil {
			p.t.Fatal(err)
		}
	}
}

// alive reports whether a process runs and is not a zombie.
func alive(pid int) bool {
	_, state, _ := statOf(pid)
	return state != "" && state != "Z" && state != "X"
}

// childrenOf returns the child processes of a process.
func childrenOf(parent int) (children []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if of, _, _ := statOf(pid); of == parent {
			children = append(children, pid)
		}
	}
	return children
}

// statOf reads the parent, the state, and the processor time of a process from
// /proc (proc(5)): state 3, ppid 4, utime 14, stime 15, cutime 16, cstime 17.
func statOf(pid int) (parent int, state string, took time.Duration) {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold blanks
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0, "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	for _, field := range fields[11:15] {
		ticks, _ := strconv.Atoi(field)
		took += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	return parent, fields[0], took
}

// ticksPerSecond is USER_HZ, 100 on every Linux.
const ticksPerSecond = 100

// ProcessorTime returns the processor time of a process and its children, including those
// that have ended.
func ProcessorTime(pid int) time.Duration {
	_, _, took := statOf(pid)
	for _, child := range childrenOf(pid) {
		_, _, more := statOf(child)
		took += more
	}
	return took
}

func (p *PostgreSQL) data() string { return filepath.Join(p.folder, "data") }

// stop stops the server if it is running.
func (p *PostgreSQL) stop(mode string) {
	_ = p.command("pg_ctl", "-D", p.data(), "-w", "-m", mode, "stop").Run()
}

func (p *PostgreSQL) run(program string, args ...string) {
	p.t.Helper()
	// The server inherits the output of pg_ctl: a pipe would stay open.
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

// command returns a command of PostgreSQL. As root it runs as the user postgres, since
// the programs refuse to run as root.
func (p *PostgreSQL) command(program string, args ...string) *exec.Cmd {
	line := append([]string{filepath.Join(p.bin, program)}, args...)
	if os.Getuid() == 0 {
		line = append([]string{"runuser", "-u", "postgres", "--"}, line...)
	}
	command := exec.Command(line[0], line[1:]...)
	command.Dir = p.folder
	return command
}

// giveToPostgres makes the user postgres the owner of the folder, if we are root.
func (p *PostgreSQL) giveToPostgres() {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	uid, gid := postgresUser(p.t)
	if err := os.Chown(p.folder, uid, gid); err != nil {
		p.t.Fatal(err)
	}
}

// postgresBin returns the folder of PostgreSQL's programs: the newest that Debian's
// packages have installed, or the one in PATH.
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
