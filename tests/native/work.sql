-- SPDX-License-Identifier: Apache-2.0
-- What libsqlite3 can do, once each, in a file and in memory; every line that is printed is the same again and again.
pragma page_size = 1024;
pragma journal_mode = wal;
pragma foreign_keys = on;
create table shop(id integer primary key, name text not null unique collate nocase, town text default 'here');
create table sale(id integer primary key, shop integer references shop on delete cascade, cents integer check (cents > 0),
	day text, note blob, euros real generated always as (cents / 100.0) virtual);
create index sale_by_day on sale(day, shop);
create index sale_dear on sale(cents) where cents > 90000;
create index sale_expr on sale(lower(hex(note)));
create table log(what text, n integer);
create trigger logged after insert on sale when new.cents > 99000 begin insert into log values ('dear', new.cents); end;
create view per_shop as select shop.name as name, count(*) as n, sum(cents) as cents from sale join shop on shop.id = sale.shop group by 1;
begin;
with recursive c(i) as (select 1 union all select i + 1 from c where i < 40) insert into shop(id, name) select i, 'Shop ' || i from c;
with recursive c(i) as (select 1 union all select i + 1 from c where i < 5000)
	insert into sale(shop, cents, day, note) select 1 + i * 7 % 40, 1 + i * 7919 % 100000, date('2026-01-01', (i % 365) || ' days'),
	zeroblob(i % 30) from c;
savepoint here;
delete from sale where id % 3 = 0;
select changes();
rollback to here;
commit;
select * from per_shop order by cents desc, name limit 3;
select day, sum(cents) over (order by day rows between 2 preceding and current row), rank() over (order by sum(cents))
	from sale where shop = 5 group by day order by 1 limit 5;
select name, (select max(cents) from sale where sale.shop = shop.id), group_concat(distinct substr(name, 1, 4)) from shop
	left join log on log.n = shop.id where name like 'shop _' or name glob 'S*1?' group by name order by name;
select count(*) from sale a where a.shop < 4 and exists (select 1 from sale b where b.shop = a.shop and b.cents = a.cents + 1 and b.day >= a.day);
select day from sale where cents > 90000 intersect select day from sale where shop in (1, 2, 3) except select '2026-05-05' order by 1 limit 4;
insert into shop(id, name) values (1, 'Other') on conflict(id) do update set town = excluded.name returning id, town;
replace into shop(id, name) values (40, 'shop 40');
update sale set cents = cents + 1 from shop where shop.id = sale.shop and shop.town = 'Other';
select total(cents), avg(euros), min(day), max(day), sum(length(note)), sum(unicode(day)) from sale;
select json_extract('{"a":[1,2,{"b":"c"}]}', '$.a[2].b'), json_group_array(n) from (select n from log order by n limit 5);
select value from json_each('[3,1,2]') order by value;
select printf('%08.3f|%-5s|%x', 3.14159, 'ab', 255), quote(x'0102'), strftime('%Y-%W', '2026-06-06'), typeof(1.0), round(2.567, 2),
	replace('aXbX', 'X', '--'), instr('hello', 'l'), trim('  x '), coalesce(null, 'y'), abs(-3), hex(zeroblob(3)), char(65, 66);
create virtual table words using fts5(t);
insert into words select name || ' sells things in ' || town from shop;
select snippet(words, 0, '[', ']', '..', 4), round(bm25(words), 3) from words where words match 'other OR "things in"' order by rank, rowid limit 3;
create virtual table boxes using rtree(id, x0, x1, y0, y1);
insert into boxes select id, id % 100, id % 100 + 5, id % 70, id % 70 + 3 from sale limit 3000;
select count(*) from boxes where x1 > 20 and x0 < 30 and y0 between 5 and 9;
alter table shop add column owner text;
alter table shop rename column town to place;
analyze;
explain query plan select * from sale where day = '2026-03-03' and shop = 3;
attach ':memory:' as other;
create table other.copy as select * from sale where id % 10 = 0;
select count(*), sum(cents) from other.copy;
detach other;
delete from shop where id between 30 and 35;
select count(*) from sale;
drop index sale_dear;
reindex;
vacuum;
pragma integrity_check;
pragma foreign_key_check;
.dump log
