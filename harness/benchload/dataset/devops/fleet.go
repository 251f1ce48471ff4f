package devops

import (
	"strconv"

	"benchbook/benchload/walk"
)

// Streams of random numbers of a host, so that adding a draw to one does not
// move another. They are part of what the bytes depend on: never renumber.
const (
	streamTags = iota
	streamWalks
	streamStarts
)

// Numbers of the draws that choose the tags and the fixed facts of a host.
const (
	drawRegion = iota
	drawDatacenter
	drawRack
	drawOS
	drawArch
	drawTeam
	drawService
	drawVersion
	drawEnvironment
	drawSerial // and the two after it
	_
	_
	drawDiskPath
	drawDiskType
	drawInterface
	drawNginxPort
	drawNginxServer
	drawRedisPort
	drawRedisServer
	drawBootTime
	drawMemory
)

// region is a cloud region and its datacenters.
type region struct {
	name        string
	datacenters []string
}

var regions = []region{
	{"us-east-1", []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1e"}},
	{"us-west-1", []string{"us-west-1a", "us-west-1b"}},
	{"us-west-2", []string{"us-west-2a", "us-west-2b", "us-west-2c"}},
	{"eu-west-1", []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}},
	{"eu-central-1", []string{"eu-central-1a", "eu-central-1b"}},
	{"ap-southeast-1", []string{"ap-southeast-1a", "ap-southeast-1b"}},
	{"ap-southeast-2", []string{"ap-southeast-2a", "ap-southeast-2b"}},
	{"ap-northeast-1", []string{"ap-northeast-1a", "ap-northeast-1c"}},
	{"sa-east-1", []string{"sa-east-1a", "sa-east-1b", "sa-east-1c"}},
}

var (
	systems      = []string{"Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"}
	architecture = []string{"x64", "x86"}
	teams        = []string{"SF", "NYC", "LON", "CHI"}
	environments = []string{"production", "staging", "test"}
	fileSystems  = []string{"ext3", "ext4", "btrfs"}
	memorySizes  = []int64{8 << 30, 12 << 30, 16 << 30}
)

// host chooses the facts of one host.
type host struct{ key uint64 }

func newHost(seed uint64, series int64) host {
	return host{walk.Key(seed, uint64(series), streamTags)}
}

func (h host) below(draw, limit uint64) uint64 { return walk.Below(h.key, draw, limit) }

func (h host) choose(draw uint64, choices []string) string {
	return choices[h.below(draw, uint64(len(choices)))]
}

func (h host) region() *region { return &regions[h.below(drawRegion, uint64(len(regions)))] }

// bootTime is a fixed field of the kernel table.
func (h host) bootTime() int64 { return int64(h.below(drawBootTime, 240)) }

// memory is the size of the host's memory in bytes.
func (h host) memory() int64 {
	return memorySizes[h.below(drawMemory, uint64(len(memorySizes)))]
}

// HostName is the hostname tag of a series.
func HostName(series int64) string { return "host_" + strconv.FormatInt(series, 10) }

// appendTag appends a tag by its name.
func (h host) appendTag(text []byte, series int64, table, tag string) []byte {
	number := func(draw, first, count uint64) []byte {
		return strconv.AppendUint(text, first+h.below(draw, count), 10)
	}
	switch tag {
	case "hostname":
		return strconv.AppendInt(append(text, "host_"...), series, 10)
	case "region":
		return append(text, h.region().name...)
	case "datacenter":
		return append(text, h.choose(drawDatacenter, h.region().datacenters)...)
	case "rack":
		return number(drawRack, 0, 100)
	case "os":
		return append(text, h.choose(drawOS, systems)...)
	case "arch":
		return append(text, h.choose(drawArch, architecture)...)
	case "team":
		return append(text, h.choose(drawTeam, teams)...)
	case "service":
		return number(drawService, 0, 20)
	case "service_version":
		return number(drawVersion, 0, 2)
	case "service_environment":
		return append(text, h.choose(drawEnvironment, environments)...)
	case "serial":
		return h.appendSerial(text)
	case "path":
		text = append(text, "/dev/sda"...)
		return number(drawDiskPath, 0, 10)
	case "fstype":
		return append(text, h.choose(drawDiskType, fileSystems)...)
	case "interface":
		text = append(text, "eth"...)
		return number(drawInterface, 0, 4)
	case "port":
		if table == "nginx" {
			return number(drawNginxPort, 1024, 20000)
		}
		return number(drawRedisPort, 1024, 20000)
	case "server":
		if table == "nginx" {
			text = append(text, "nginx_"...)
			return number(drawNginxServer, 0, 100000)
		}
		text = append(text, "redis_"...)
		return number(drawRedisServer, 0, 100000)
	}
	panic("devops: no tag " + tag)
}

// appendSerial appends the serial number of the disk, as 012-345-678.
func (h host) appendSerial(text []byte) []byte {
	for part := range uint64(3) {
		if part > 0 {
			text = append(text, '-')
		}
		n := h.below(drawSerial+part, 1000)
		text = append(text, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
	}
	return text
}
