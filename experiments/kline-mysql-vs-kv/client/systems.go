package main

import (
	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
	"benchbook/benchload/target/wire"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars/mysql"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars/null"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars/packedday"
	barpostgres "benchbook/experiments/kline-mysql-vs-kv/client/bars/postgres"
	"cmp"
	"errors"
	"net/url"
)

// barPlace is where bars are kept.
type barPlace struct {
	system.Place
	days       *bars.Days
	through    *wire.Address // of a packed-day service; nil for none
	partitions int64
}

// address returns the parts of an address, which must have a port.
func (p barPlace) address() (*url.URL, error) {
	address, err := url.Parse(p.URL)
	if err == nil && address.Port() == "" {
		err = errors.New("it has no port")
	}
	return address, err
}

// barStores are the systems that keep bars; a new one adds an entry.
var barStores = system.Kinds[barPlace, bars.Store]{
	{Name: "mysql", Example: "mysql://root@127.0.0.1:3306", Open: func(p barPlace) (bars.Store, error) {
		address, err := p.address()
		if err != nil {
			return nil, err
		}
		password, _ := address.User.Password()
		return mysql.New(address.Host, p.Database, cmp.Or(address.User.Username(), "root"), password, p.Timeout,
			cmp.Or(p.partitions, mysql.Partitions(p.days.Rows()))), nil
	}},
	{Name: "postgresql", Example: postgres.Example, Open: func(p barPlace) (bars.Store, error) { return barpostgres.New(p.Place) }},
	{Name: "redis", Example: "redis://127.0.0.1:6379", Open: func(p barPlace) (bars.Store, error) {
		address, err := p.address()
		if err != nil {
			return nil, err
		}
		direct := packedday.NewDirect(address.Host, p.Timeout)
		if p.through == nil {
			return direct, nil
		}
		return packedday.NewRemote(*p.through, direct, p.Timeout), nil
	}},
	{Name: "null", Open: func(p barPlace) (bars.Store, error) { return null.Store{Days: p.days}, nil }},
}
