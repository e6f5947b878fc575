package packaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// clusterEnv names the folder of a cluster: the programs kubectl and podman of these tests are the
// test binary under another name, and keep everything there.
//
//	image/            the root file system of the image
//	volumes/NAME      claims, and named volumes of podman
//	data/KIND-NAME/   files of secrets and config maps
//	pods/NAME/        root file system, mounts (pod.json), process and logs
const clusterEnv = "COUNTERSIGN_TEST_CLUSTER"

// databaseEnv names the folder of the database's socket, which every container can reach.
const databaseEnv = "COUNTERSIGN_TEST_DATABASE"

func TestMain(m *testing.M) {
	run := map[string]func(*cluster, []string) error{"kubectl": (*cluster).kubectl, "podman": (*cluster).podman}[filepath.Base(os.Args[0])]
	if run == nil {
		os.Exit(m.Run())
	}
	if err := run(&cluster{os.Getenv(clusterEnv)}, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

type cluster struct{ dir string }

func (c *cluster) at(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

// mounted is a folder that a container sees.
type mounted struct{ Source, Target, Options string }

// box is a running container, or one that has ended.
type box struct {
	Name   string
	Args   []string
	Env    []string
	Mounts []mounted
	Once   []string // claims that no other pod may have at the same time
	PID    int
}

func (c *cluster) path(b *box, name string) string { return c.at("pods", b.Name, name) }

// enter is a script that runs a program as a container runtime does: with mounts and a network of its
// own, on a root file system that is read-only, as the user of the image.
const enter = `set -e
root=$1; shift
ip link set lo up
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" != ro ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
mount -o remount,bind,ro "$root"
exec chroot --userspec=65532:65532 --groups=65532 "$root" /countersign "$@"`

// command makes the root file system of a container, and the command that runs it.
func (c *cluster) command(b *box) (*exec.Cmd, error) {
	root := c.path(b, "root")
	err := errors.Join(os.RemoveAll(c.at("pods", b.Name)), os.MkdirAll(root, 0o755), os.Link(c.at("image", "countersign"), filepath.Join(root, "countersign")))
	if database := os.Getenv(databaseEnv); database != "" {
		b.Mounts = append(b.Mounts, mounted{database, "/database", "rw"})
	}
	args := []string{"--mount", "--net", "--propagation", "private", "sh", "-c", enter, "sh", root}
	for _, mount := range b.Mounts {
		place := filepath.Join(root, mount.Target)
		if info, statErr := os.Stat(mount.Source); statErr == nil && !info.IsDir() {
			err = errors.Join(err, os.WriteFile(place, nil, 0o644))
		} else {
			err = errors.Join(err, statErr, os.MkdirAll(place, 0o755))
		}
		args = append(args, mount.Source, mount.Target, mount.Options)
	}
	command := exec.Command("unshare", append(append(args, "--"), b.Args...)...)
	command.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, b.Env...)
	return command, err
}

// start runs a container in the background. With a pipe for its standard input, it begins when something
// opens that.
func (c *cluster) start(b *box, stdin string) error {
	command, err := c.command(b)
	if err != nil {
		return err
	}
	if stdin != "" {
		env := command.Env
		command = exec.Command("sh", append([]string{"-c", `exec < "$0" "$@"`, stdin}, command.Args...)...)
		command.Env = env
	}
	log, err := os.Create(c.path(b, "log"))
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return err
	}
	b.PID = command.Process.Pid
	// Until unshare has run, a probe of the container would ask the network of the host.
	ours, err := os.Readlink("/proc/self/ns/net")
	if stdin == "" && !until(time.Minute, func() bool {
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", b.PID))
		return err == nil && its != ours || !b.runs()
	}) {
		err = errors.Join(err, fmt.Errorf("%s has no network of its own", b.Name))
	}
	return errors.Join(err, c.keep(b))
}

func (c *cluster) keep(b *box) error {
	content, err := json.Marshal(b)
	return errors.Join(err, os.WriteFile(c.path(b, "pod.json"), content, 0o600))
}

func (c *cluster) pod(name string) (*box, error) {
	content, err := os.ReadFile(c.at("pods", name, "pod.json"))
	if err != nil {
		return nil, err
	}
	var b box
	return &b, json.Unmarshal(content, &b)
}

// runs reports whether the process of a container lives. No one may reap it, as an orphan.
func (b *box) runs() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.PID))
	_, state, _ := strings.Cut(string(stat), ") ")
	return b.PID != 0 && err == nil && !strings.HasPrefix(state, "Z")
}

// stop ends a container as a runtime does.
func (c *cluster) stop(b *box) error {
	if b.runs() {
		if err := syscall.Kill(b.PID, syscall.SIGTERM); err != nil {
			return err
		}
	}
	if !until(time.Minute, func() bool { return !b.runs() }) {
		return fmt.Errorf("%s does not stop", b.Name)
	}
	return os.RemoveAll(c.at("pods", b.Name))
}

// until waits for a condition.
func until(limit time.Duration, met func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-tick.C {
		if met() {
			return true
		}
	}
	return met()
}

// exec runs a program in a container that runs. A shell, or anything else that is not in the image,
// is not found.
func (c *cluster) exec(name string, args []string) error {
	b, err := c.pod(name)
	if err != nil {
		return err
	}
	command := exec.Command("nsenter", append([]string{"--target", strconv.Itoa(b.PID), "--mount", "--net", "--root", "--wd",
		"--setuid", "65532", "--setgid", "65532", "--"}, args...)...)
	command.Env, command.Stdin, command.Stdout, command.Stderr = b.Env, os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}

// ready waits until the server in a container passes the probe at a port.
func (c *cluster) ready(name string, port int) error {
	b, err := c.pod(name)
	if err != nil {
		return err
	}
	out, err := exec.Command("nsenter", "--target", strconv.Itoa(b.PID), "--net", "--", c.at("image", "countersign"), "health", "--wait", "1m",
		"--url", fmt.Sprintf("http://127.0.0.1:%d", port)).CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(c.path(b, "log"))
		return fmt.Errorf("%s is not ready: %w\n%s\n%s", name, err, out, log)
	}
	return nil
}

// values takes the values of a flag out of arguments: --name VALUE.
func values(args []string, name string) (found, rest []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == name && i+1 < len(args) {
			found = append(found, args[i+1])
			i++
		} else {
			rest = append(rest, args[i])
		}
	}
	return found, rest
}

// kubectl is the part of kubectl, of the control plane and of a kubelet that the page needs.
func (c *cluster) kubectl(args []string) error {
	switch verb := args[0]; verb {
	case "create":
		files, rest := values(args[1:], "--from-file")
		kind, name := rest[0], rest[len(rest)-1]
		return c.createData(kind+"-"+name, files)
	case "apply":
		files, _ := values(args[1:], "-f")
		for _, file := range files {
			if err := c.apply(file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		return nil
	case "wait":
		return c.wait(args[len(args)-1])
	case "rollout":
		return c.rolledOut(strings.TrimPrefix(args[2], "statefulset/"))
	case "exec":
		at := slices.Index(args, "--")
		return c.exec(args[at-1], args[at+1:])
	case "logs":
		containers, rest := values(args[1:], "--container")
		content, err := os.ReadFile(c.at("pods", strings.TrimPrefix(rest[0], "job/")+"-"+containers[0], "log"))
		return errors.Join(err, write(os.Stdout, content))
	case "attach":
		return c.attach(args[len(args)-1])
	case "delete":
		for _, name := range args[1:] {
			if err := c.remove(name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is not known here", args)
}

func write(to io.Writer, content []byte) error {
	_, err := to.Write(content)
	return err
}

// createData keeps the files of a secret or a config map, as kubectl picks them from a folder.
func (c *cluster) createData(name string, sources []string) error {
	err := os.MkdirAll(c.at("data", name), 0o700)
	for _, source := range sources {
		paths := []string{source}
		if info, statErr := os.Stat(source); statErr == nil && info.IsDir() {
			paths, _ = filepath.Glob(filepath.Join(source, "*"))
		}
		for _, path := range paths {
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				continue
			}
			content, readErr := os.ReadFile(path)
			err = errors.Join(err, readErr, os.WriteFile(c.at("data", name, filepath.Base(path)), content, 0o600))
		}
	}
	return err
}

// apply creates what a manifest has and does not exist yet.
func (c *cluster) apply(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var one manifest
		if err := yaml.Unmarshal([]byte(document), &one); err != nil {
			return err
		}
		name := one.Metadata.Name
		switch one.Kind {
		case "PersistentVolumeClaim":
			err = os.MkdirAll(c.at("volumes", name), 0o755)
			if slices.Contains(one.Spec.AccessModes, "ReadWriteOncePod") {
				err = errors.Join(err, os.WriteFile(c.at("volumes", name+".once"), nil, 0o600))
			}
		case "Job":
			err = c.runJob(name, &one.Spec.Template.Spec)
		case "StatefulSet":
			err = c.startSet(&one)
		case "Pod":
			err = c.startPod(name, &one)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", one.Kind, name, err)
		}
	}
	return nil
}

// runJob runs the containers of a job, unless it has run.
func (c *cluster) runJob(name string, spec *pod) error {
	if _, err := os.Stat(c.at("pods", name+"-"+spec.Containers[0].Name)); err == nil {
		return nil
	}
	for _, one := range append(spec.InitContainers, spec.Containers...) {
		b, err := c.box(name+"-"+one.Name, spec, &one, "")
		if err != nil {
			return err
		}
		command, err := c.command(b)
		if err != nil {
			return err
		}
		out, err := command.CombinedOutput()
		if err = errors.Join(err, os.WriteFile(c.path(b, "log"), out, 0o600), c.keep(b)); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

func (c *cluster) startSet(one *manifest) error {
	spec := &one.Spec.Template.Spec
	for i := range one.Spec.Replicas {
		name := fmt.Sprintf("%s-%d", one.Metadata.Name, i)
		b, err := c.box(name, spec, &spec.Containers[0], name)
		if err != nil {
			return err
		}
		if err := c.start(b, ""); err != nil {
			return err
		}
	}
	port := spec.Containers[0].ReadinessProbe.HTTPGet.Port
	return os.WriteFile(c.at("pods", one.Metadata.Name+".set"), fmt.Appendf(nil, "%d %d", one.Spec.Replicas, port), 0o600)
}

// startPod starts a pod that reads standard input, which attach gives it.
func (c *cluster) startPod(name string, one *manifest) error {
	spec := &one.Spec.Pod
	b, err := c.box(name, spec, &spec.Containers[0], "")
	if err != nil {
		return err
	}
	fifo := c.at("pods", name+".stdin")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return err
	}
	return c.start(b, fifo)
}

// attach gives a pod its standard input, and waits until it has ended.
func (c *cluster) attach(name string) error {
	b, err := c.pod(name)
	if err != nil {
		return err
	}
	input, err := os.OpenFile(c.at("pods", name+".stdin"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(input, os.Stdin)
	if err = errors.Join(err, input.Close()); err != nil {
		return err
	}
	if !until(time.Minute, func() bool { return !b.runs() }) {
		return errors.New("it goes on")
	}
	log, err := os.ReadFile(c.path(b, "log"))
	if err == nil && !strings.Contains(string(log), `"serveFrom"`) {
		err = errors.New("it failed")
	}
	return errors.Join(err, write(os.Stdout, log))
}

func (c *cluster) wait(name string) error {
	kind, name, _ := strings.Cut(name, "/")
	found, err := filepath.Glob(c.at("pods", name+map[string]string{"job": "-*", "pod": ""}[kind], "pod.json"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("there is no %s %s", kind, name)
	}
	return nil // a job has run when it was applied, and a pod has ended when attach has
}

func (c *cluster) rolledOut(name string) error {
	content, err := os.ReadFile(c.at("pods", name+".set"))
	var replicas, port int
	if _, scanErr := fmt.Sscan(string(content), &replicas, &port); err != nil || scanErr != nil {
		return errors.Join(err, scanErr)
	}
	for i := range replicas {
		err = errors.Join(err, c.ready(fmt.Sprintf("%s-%d", name, i), port))
	}
	return err
}

// remove deletes a pod, the pods of a set, or a claim.
func (c *cluster) remove(name string) error {
	kind, name, _ := strings.Cut(name, "/")
	if kind == "persistentvolumeclaim" {
		return os.RemoveAll(c.at("volumes", name))
	}
	found, err := filepath.Glob(c.at("pods", name+map[string]string{"statefulset": "-[0-9]", "pod": ""}[kind], "pod.json"))
	for _, path := range found {
		b, podErr := c.pod(filepath.Base(filepath.Dir(path)))
		if err = errors.Join(err, podErr); err == nil {
			err = c.stop(b)
		}
	}
	return err
}

// box lays out the volumes of a container, as a kubelet does. own is the name of the pod in a set.
func (c *cluster) box(name string, spec *pod, one *container, own string) (*box, error) {
	b := &box{Name: name, Args: one.Args}
	for _, mount := range one.VolumeMounts {
		source, err := c.volume(name, spec, mount.Name, own, b)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", mount.Name, err)
		}
		options := "rw"
		if mount.ReadOnly {
			options = "ro"
		}
		b.Mounts = append(b.Mounts, mounted{source, mount.MountPath, options})
	}
	return b, nil
}

// volume returns the folder of a volume.
func (c *cluster) volume(podName string, spec *pod, name, own string, b *box) (string, error) {
	at := slices.IndexFunc(spec.Volumes, func(v volume) bool { return v.Name == name })
	if at < 0 { // of the set
		folder := c.at("volumes", name+"-"+own)
		return folder, errors.Join(os.MkdirAll(folder, 0o755), mountVolume(folder))
	}
	v := &spec.Volumes[at]
	if claim := v.PersistentVolumeClaim.ClaimName; claim != "" {
		if _, err := os.Stat(c.at("volumes", claim+".once")); err == nil {
			b.Once = append(b.Once, claim)
			if err := c.free(claim); err != nil {
				return "", err
			}
		}
		return c.at("volumes", claim), mountVolume(c.at("volumes", claim))
	}
	folder, err := os.MkdirTemp(c.dir, podName)
	if err == nil {
		err = os.Chmod(folder, 0o755)
	}
	kept, mode := "", fs.FileMode(0o644)
	switch {
	case v.Secret.Name != "":
		kept, mode = "secret-"+v.Secret.Name, fs.FileMode(v.Secret.DefaultMode)
	case v.ConfigMap.Name != "":
		kept = "configmap-" + v.ConfigMap.Name
	default: // of the pod alone, and empty
		return folder, errors.Join(err, mountVolume(folder))
	}
	files := map[string][]byte{}
	paths, _ := filepath.Glob(c.at("data", kept, "*"))
	for _, path := range paths {
		content, readErr := os.ReadFile(path)
		files[filepath.Base(path)], err = content, errors.Join(err, readErr)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("there is no %s", kept)
	}
	return folder, errors.Join(err, mountSecret(folder, mode, files))
}

// free refuses a claim that another pod has.
func (c *cluster) free(claim string) error {
	found, err := filepath.Glob(c.at("pods", "*", "pod.json"))
	for _, path := range found {
		b, podErr := c.pod(filepath.Base(filepath.Dir(path)))
		if podErr == nil && b.runs() && slices.Contains(b.Once, claim) {
			err = errors.Join(err, fmt.Errorf("pod %s has claim %s", b.Name, claim))
		}
	}
	return err
}
