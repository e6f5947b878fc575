//go:build unix

package clitest

import (
	"bytes"
	"encoding/gob"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

// call is a call of the command. Without a directory and an environment, it has those of the tests.
type call struct {
	Dir       string
	Env, Args []string
	Stdin     []byte
}

// answer is what came of a call.
type answer struct {
	Stdout, Stderr []byte
	Status         int
}

// worker is a process that carries out one call after another, away from any terminal. To start the
// command takes longer than nearly all that it does, and the tests call it thousands of times. Calls
// that need a process of their own (a terminal, a server, one that is killed) start the program instead.
type worker struct {
	calls   *gob.Encoder
	answers *gob.Decoder
}

// idle are the workers without a call. A call that finds none starts one, so that calls never wait for
// each other.
var idle struct {
	sync.Mutex
	workers []*worker
}

// workerProgram is the name of the program that a worker is.
const workerProgram = "countersign-worker"

// carryOut has a worker carry out a call. An error means that the command ended its process.
func carryOut(c *call) (*answer, error) {
	w, err := hire()
	if err != nil {
		return nil, err
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.Dir == "" {
		if c.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	var a answer
	if err := w.calls.Encode(c); err != nil {
		return nil, err
	}
	if err := w.answers.Decode(&a); err != nil {
		return nil, err
	}
	idle.Lock()
	defer idle.Unlock()
	idle.workers = append(idle.workers, w)
	return &a, nil
}

// hire returns an idle worker, or a new one.
func hire() (*worker, error) {
	idle.Lock()
	defer idle.Unlock()
	if last := len(idle.workers) - 1; last >= 0 {
		w := idle.workers[last]
		idle.workers = idle.workers[:last]
		return w, nil
	}
	command := exec.Command(workerProgram) // lives as long as the tests
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Stderr = os.Stderr // a panic
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &worker{gob.NewEncoder(in), gob.NewDecoder(out)}, command.Start()
}

// work is main of a worker. It ends with the process that started it, also during a call.
func work() {
	deployment.NewKeystoreWork = 1
	calls := make(chan call)
	go func() {
		for decoder := gob.NewDecoder(os.Stdin); ; {
			var c call
			if err := decoder.Decode(&c); err != nil {
				os.Exit(0)
			}
			calls <- c
		}
	}()
	answers := gob.NewEncoder(os.Stdout)
	talk, err := os.CreateTemp("", "stderr") // a file, since warnings about a log go to os.Stderr
	check(err)
	check(os.Remove(talk.Name()))
	for c := range calls {
		os.Clearenv()
		for _, variable := range c.Env {
			name, value, _ := strings.Cut(variable, "=")
			_ = os.Setenv(name, value)
		}
		check(os.Chdir(c.Dir))
		check(talk.Truncate(0))
		_, err = talk.Seek(0, io.SeekStart)
		check(err)
		os.Stderr = talk
		var out bytes.Buffer
		status := cli.Main(c.Args, bytes.NewReader(c.Stdin), &out, talk, nil)
		_, err = talk.Seek(0, io.SeekStart)
		check(err)
		said, err := io.ReadAll(talk)
		check(err)
		check(answers.Encode(&answer{out.Bytes(), said, status}))
	}
}

// check ends a worker that cannot work.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
