package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/outbox"
)

func TestSend(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "outbox")
	sender, err := outbox.New(folder)
	testenv.Must(t, err)
	const id = "0fcd14f5-dae7-4331-82ca-ebaddd849534"
	for kind, want := range map[otp.Type]outbox.File{
		otp.TypeEmail: {OTPID: id, Channel: "email", To: "to", Subject: "s", Text: "t", HTML: "<h>"},
		otp.TypeSMS:   {OTPID: id, Channel: "sms", To: "to", Subject: "s", Text: "t", HTML: "<h>"},
	} {
		err := sender.Send(t.Context(), otp.Message{OTPID: id, Type: kind, To: "to", Subject: "s", Text: "t", HTML: "<h>"})
		testenv.Must(t, err)
		content := testenv.Read(t, filepath.Join(folder, id+".json"))
		var got outbox.File
		if err := json.Unmarshal(content, &got); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	parent, err := os.Stat(folder)
	if err != nil || parent.Mode().Perm() != 0o700 {
		t.Errorf("folder: mode %v, %v", parent.Mode(), err)
	}
}

func TestRefused(t *testing.T) {
	folder := t.TempDir()
	sender, err := outbox.New(filepath.Join(folder, "outbox"))
	testenv.Must(t, err)
	for _, id := range []string{"", "../escape", "a/b"} {
		if err := sender.Send(t.Context(), otp.Message{OTPID: id}); err == nil {
			t.Errorf("id %q: accepted as a file name", id)
		}
	}
	testenv.Must(t, os.RemoveAll(filepath.Join(folder, "outbox")))
	if err := sender.Send(t.Context(), otp.Message{OTPID: "0fcd14f5-dae7-4331-82ca-ebaddd849534"}); err == nil {
		t.Error("a message was written to a folder that does not exist")
	}
}

// TestSendFails checks that a failed Send leaves no file behind.
func TestSendFails(t *testing.T) {
	const id = "0fcd14f5-dae7-4331-82ca-ebaddd849534"
	folder := t.TempDir()
	sender, err := outbox.New(folder)
	testenv.Must(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sender.Send(cancelled, otp.Message{OTPID: id}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v with a cancelled context", err)
	}
	testenv.Must(t, os.Mkdir(filepath.Join(folder, id+".json"), 0o700))
	if err := sender.Send(t.Context(), otp.Message{OTPID: id}); err == nil {
		t.Error("a message replaced a folder")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files, want only the folder: %v", len(files), err)
	}
}

func TestNewOverFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testenv.Write(t, file, nil)
	_, err := outbox.New(filepath.Join(file, "outbox"))
	if pathErr, ok := errors.AsType[*fs.PathError](err); !ok || pathErr.Path != file {
		t.Errorf("error %v, want one that names %s", err, file)
	}
}
