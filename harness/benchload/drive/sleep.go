package drive

import (
	"syscall"
	"time"
)

// systemSleep sleeps in the kernel, which wakes up on time, where the timers of
// the runtime are rounded to milliseconds. A signal may end it early.
func systemSleep(length time.Duration) {
	request := syscall.NsecToTimespec(int64(length))
	_ = syscall.Nanosleep(&request, nil)
}
