package packaging_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// podman is the part of podman and of podman compose that the page and compose.yaml need.
func (c *cluster) podman(args []string) error {
	switch args[0] {
	case "build":
		_, err := os.Stat(args[slices.Index(args, "-f")+1])
		return err
	case "run":
		return c.podmanRun(args[1:], nil)
	case "exec":
		return c.exec(args[1], args[2:])
	case "compose":
		return c.compose(args[slices.Index(args, "-f")+1], args[3:])
	}
	return fmt.Errorf("%q is not known here", args)
}

// podmanRun runs a container of the image, with its flags.
func (c *cluster) podmanRun(args, env []string) error {
	b := &box{Name: "run", Env: env}
	volumes, args := values(args, "--volume")
	for _, name := range []string{"--ulimit", "--publish"} {
		_, args = values(args, name)
	}
	names, args := values(args, "--name")
	b.Args = args[slices.Index(args, "countersign")+1:]
	for _, volume := range volumes {
		parts := strings.Split(volume+":rw", ":")
		if !strings.HasPrefix(parts[0], ".") {
			parts[0] = c.at("volumes", parts[0])
			if err := newVolume(parts[0]); err != nil {
				return err
			}
		}
		b.Mounts = append(b.Mounts, mounted{parts[0], parts[1], parts[2]})
	}
	temporary, err := os.MkdirTemp(c.dir, "tmp") // which --read-only mounts, or compose.yaml
	b.Mounts = append(b.Mounts, mounted{temporary, "/tmp", "rw"})
	if err = errors.Join(err, os.Chmod(temporary, 0o777|fs.ModeSticky)); err != nil {
		return err
	}
	if len(names) > 0 {
		b.Name = names[0]
		return errors.Join(c.start(b, ""), c.ready(b.Name, 8081))
	}
	command, err := c.command(b)
	if err != nil {
		return err
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}

// newVolume creates a named volume with the rights of the image's /data.
func newVolume(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chown(folder, podUser, podGroup)
}

// compose does what podman compose does with the services of a file.
func (c *cluster) compose(file string, args []string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	dotenv, err := os.ReadFile(filepath.Join(filepath.Dir(file), ".env"))
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(file), ".env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		return fmt.Errorf(".env has mode %v, %w", info.Mode(), err)
	}
	_, password, _ := strings.Cut(strings.TrimSpace(string(dotenv)), "POSTGRES_PASSWORD=")
	var project struct {
		Services map[string]struct {
			Command, Volumes []string
			Environment      map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(content), "${POSTGRES_PASSWORD:?}", password)), &project); err != nil {
		return err
	}
	if err := createDatabase(project.Services["postgres"].Environment); err != nil {
		return err
	}
	server := project.Services["countersign"]
	var env []string
	for name, value := range server.Environment {
		env = append(env, name+"="+value)
	}
	flags := []string{}
	for _, volume := range server.Volumes {
		flags = append(flags, "--volume", volume)
	}
	switch args[0] {
	case "run":
		return c.podmanRun(append(flags, args[1:]...), env)
	case "up":
		return c.podmanRun(append(append(flags, "--name", "countersign", "countersign"), server.Command...), env)
	case "exec":
		return c.exec(args[1], args[2:])
	}
	return fmt.Errorf("compose %q is not known here", args)
}

// createDatabase does what the image of PostgreSQL does at its first start, and requires passwords.
func createDatabase(environment map[string]string) error {
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, "host="+os.Getenv(databaseEnv)+" user=postgres dbname=postgres")
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	var exists bool
	if err := admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign')").Scan(&exists); err != nil || exists {
		return err
	}
	for _, statement := range []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", environment["POSTGRES_USER"], environment["POSTGRES_PASSWORD"]),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", environment["POSTGRES_DB"], environment["POSTGRES_USER"]),
		"CREATE TABLE rules (line text)",
		"INSERT INTO rules VALUES ('local all countersign scram-sha-256'), ('local all all trust')",
	} {
		if _, err := admin.Exec(ctx, statement); err != nil {
			return err
		}
	}
	var file string
	if err := admin.QueryRow(ctx, "SHOW hba_file").Scan(&file); err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "COPY rules TO '"+file+"'")
	if err == nil {
		_, err = admin.Exec(ctx, "SELECT pg_reload_conf()")
	}
	return err
}

// newCluster makes a cluster, perhaps with a database, and returns a function that runs a script as a reader does, in a folder
// that has the files of packaging.
func newCluster(t *testing.T, withDatabase bool) (c *cluster, run func(script string)) {
	t.Helper()
	testenv.Slow(t)
	testenv.Superuser(t)
	for _, tool := range []string{"bash", "ip", "nsenter", "unshare", "openssl"} {
		testenv.Tool(t, tool)
	}
	dir, err := os.MkdirTemp("", "cluster")
	testenv.Must(t, err)
	c = &cluster{dir}
	if withDatabase {
		_, rest, _ := strings.Cut(testenv.Postgres(t).DSN, "host=")
		socket, _, _ := strings.Cut(rest, " ")
		testenv.Must(t, os.Chmod(socket, 0o711))
		t.Setenv(databaseEnv, socket)
	}
	t.Cleanup(func() { c.end(t) })
	program := binary(t)
	own, err := os.Executable()
	here, bin := filepath.Join(dir, "reader"), filepath.Join(dir, "bin")
	err = errors.Join(err, os.Chmod(dir, 0o755), os.Mkdir(bin, 0o755), os.Mkdir(here, 0o755),
		os.Symlink(own, filepath.Join(bin, "kubectl")), os.Symlink(own, filepath.Join(bin, "podman")), os.Symlink(program, filepath.Join(bin, "countersign")))
	for _, folder := range []string{"image", "volumes", "data", "pods"} {
		err = errors.Join(err, os.Mkdir(c.at(folder), 0o755))
	}
	err = errors.Join(err, os.CopyFS(filepath.Join(here, "packaging"), os.DirFS(".")))
	testenv.Must(t, err)
	content := testenv.Read(t, program)
	testenv.Must(t, os.WriteFile(c.at("image", "countersign"), content, 0o755))
	return c, func(script string) {
		t.Helper()
		script = strings.ReplaceAll(script, "@postgres/countersign?", "@/countersign?host=/database&")
		command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		command.Dir = here
		command.Env = append(os.Environ(), clusterEnv+"="+dir, "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
	}
}

// end stops what runs in a cluster, all at once since each drains for some time, and removes it.
func (c *cluster) end(t *testing.T) {
	found, err := filepath.Glob(c.at("pods", "*", "pod.json"))
	var stopped []*box
	for _, path := range found {
		b, podErr := c.pod(filepath.Base(filepath.Dir(path)))
		if err = errors.Join(err, podErr); err != nil {
			continue
		}
		if b.runs() {
			err = errors.Join(err, syscall.Kill(b.PID, syscall.SIGTERM))
			stopped = append(stopped, b)
		}
	}
	for _, b := range stopped {
		if !until(time.Minute, func() bool { return !b.runs() }) {
			t.Errorf("%s does not stop", b.Name)
		}
	}
	if err = errors.Join(err, os.RemoveAll(c.dir)); err != nil {
		t.Error(err)
	}
}

// signs is a script that has a request signed by the server in a container, as a client in its network
// does, and leaves body.json and answer.txt. inside is the command that runs a program in the container.
func (c *cluster) signs(t *testing.T, name, inside, config string) string {
	t.Helper()
	return "rm -f body.json\n" + inside + " /countersign keys list --config " + config + ` | sed 's/.*"address":"\(0x[0-9a-fA-F]*\)".*/\1/' > address.txt
echo 02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0 |
    countersign request --type ethereum --sign-with "$(cat address.txt)" --api-key client/api-key.json --body body.json > request.json
` + c.submits(t, name, "answer.txt")
}

// submits is a script that posts body.json to the server in a container.
func (c *cluster) submits(t *testing.T, name, to string) string {
	t.Helper()
	b, err := c.pod(name)
	testenv.Must(t, err)
	return fmt.Sprintf("nsenter --target %d --net countersign submit --url http://127.0.0.1:8080 "+
		"--api-key client/api-key.json --field signedTransaction < body.json > %s\n", b.PID, to)
}

// blocks returns the commands below a heading of the page.
func blocks(t *testing.T, heading string, count int) (found []string) {
	t.Helper()
	_, section, _ := strings.Cut(string(testenv.Read(t, filepath.Join("..", "docs", "operations.md"))), "\n"+heading+"\n")
	if end := regexp.MustCompile(`(?m)^##+ `).FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	for _, block := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(section, -1) {
		found = append(found, block[1])
	}
	if len(found) != count {
		t.Fatalf("%s has %d blocks of commands", heading, len(found))
	}
	return found
}

// TestKubernetesStepByStep follows the page in order, against what its manifests create: volumes and
// secrets with the rights that a kubelet gives them, the user of the image, a root file system that is
// read-only and has nothing but the image, and a network for each pod.
func TestKubernetesStepByStep(t *testing.T) {
	key := blocks(t, "## Kubernetes, step by step", 1)[0]
	t.Run("bolt", func(t *testing.T) {
		c, run := newCluster(t, false)
		steps := blocks(t, "### One node on a volume", 3)
		run(key + steps[0])
		run(c.signs(t, "countersign-0", "kubectl exec countersign-0 --", "/state/deployment/countersign.yaml"))
		run(steps[1])
		run("! kubectl exec countersign-0 -- /bin/sh -c true && ! kubectl exec countersign-0 -- tar --version && test ! -e client/state.db")
		run("! kubectl apply -f packaging/kubernetes/bolt-restore.yaml") // the volume is in use
		run(steps[2] + "kubectl rollout status statefulset/countersign")
		run(c.submits(t, "countersign-0", "again.txt") + "cmp answer.txt again.txt")
		run(c.signs(t, "countersign-0", "kubectl exec countersign-0 --", "/state/deployment/countersign.yaml"))
	})
	t.Run("postgres", func(t *testing.T) {
		c, run := newCluster(t, true)
		testenv.Must(t, createDatabase(map[string]string{"POSTGRES_USER": "countersign", "POSTGRES_DB": "countersign", "POSTGRES_PASSWORD": "correct"}))
		run(key + "echo localhost:5432:countersign:countersign:correct > pgpass\n" + blocks(t, "### Two nodes on a database", 1)[0])
		run(c.signs(t, "countersign-0", "kubectl exec countersign-0 --", "/etc/countersign/countersign.yaml"))
		run(c.submits(t, "countersign-1", "again.txt") + "cmp answer.txt again.txt\ntar -tf backup.tar > files.txt\ngrep -q identity.age files.txt")
	})
}

// TestContainerStepByStep follows the commands for podman, of the page and of compose.yaml.
func TestContainerStepByStep(t *testing.T) {
	t.Run("podman", func(t *testing.T) {
		c, run := newCluster(t, false)
		run(blocks(t, "## In a container", 1)[0])
		run(c.signs(t, "countersign", "podman exec countersign", "/data/countersign.yaml"))
	})
	t.Run("compose", func(t *testing.T) {
		c, run := newCluster(t, true)
		var script strings.Builder
		for line := range strings.Lines(string(testenv.Read(t, "compose.yaml"))) {
			if command, ok := strings.CutPrefix(line, "#   "); ok {
				script.WriteString(command)
			}
		}
		run(script.String())
		run(c.signs(t, "countersign", "podman compose -f packaging/compose.yaml exec countersign", "/data/countersign.yaml"))
	})
}
