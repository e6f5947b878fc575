package libfuzzer

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/countersign-dev/countersign/fuzz/internal/corpus"
)

// F stands in for testing.F.
type F struct {
	common
	seeds [][]any
	body  reflect.Value
}

// T stands in for testing.T.
type T struct{ common }

// Add takes a seed.
func (f *F) Add(values ...any) { f.seeds = append(f.seeds, values) }

// Fuzz takes the function that runs for every input: func(*T, …).
func (f *F) Fuzz(body any) { f.body = reflect.ValueOf(body) }

// Target is a target that is ready to take inputs.
type Target struct {
	f     *F
	types []reflect.Type
}

// Start makes a target ready. Folder is where its function finds the vectors
// that it names relative to package fuzz; "" is the current one. What runs for an
// input finds none: libFuzzer's own paths are relative to where it was started.
func Start(name, folder string, function func(*F)) (*Target, error) {
	f := &F{common: common{name: name}}
	if err := within(folder, func() { function(f) }); err != nil {
		return nil, err
	}
	if f.body.Kind() != reflect.Func {
		return nil, fmt.Errorf("%s fuzzes nothing", name)
	}
	target := &Target{f: f}
	for i := 1; i < f.body.Type().NumIn(); i++ {
		target.types = append(target.types, f.body.Type().In(i))
	}
	return target, nil
}

// within calls a function in another current folder.
func within(folder string, do func()) error {
	if folder == "" {
		do()
		return nil
	}
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(folder); err != nil {
		return err
	}
	do()
	return os.Chdir(before)
}

// Run runs the target on one input of libFuzzer, in the encoding of corpus.Raw.
func (target *Target) Run(data []byte) {
	t := &T{common{name: target.f.name}}
	defer t.clean()
	target.f.body.Call(append([]reflect.Value{reflect.ValueOf(t)}, corpus.FromRaw(target.types, data)...))
}

// Close runs the cleanups of the target.
func (target *Target) Close() { target.f.clean() }

// Seeds returns the seeds, the committed corpus among them, in the encoding of
// corpus.Raw.
func (target *Target) Seeds() ([]corpus.Entry, error) {
	var entries []corpus.Entry
	for _, values := range target.f.seeds {
		data, err := corpus.Raw(values)
		if err != nil {
			return nil, err
		}
		entries = append(entries, corpus.Entry{Name: corpus.Name(data), Data: data})
	}
	return entries, nil
}

// Beside returns the folder of package fuzz below source/ beside the running
// program, where build.sh lays the vectors; "" if there is none.
func Beside() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	folder := filepath.Join(filepath.Dir(program), "source", "fuzz")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder
}
