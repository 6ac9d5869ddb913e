// SPDX-License-Identifier: Apache-2.0
package shop

sealed trait Item { def price: BigDecimal }
case class Book(title: String, price: BigDecimal) extends Item
case class Tool(name: String, price: BigDecimal, weight: Double) extends Item

trait Discount[-A] { def of(a: A): BigDecimal }

object Discount {
  implicit val books: Discount[Book] = new Discount[Book] { def of(b: Book) = b.price * 0.1 }
  implicit def any[A <: Item]: Discount[A] = new Discount[A] { def of(a: A) = BigDecimal(0) }
}

class Cart(items: List[Item]) {
  lazy val total: BigDecimal = items.map(_.price).sum
  def cheapest: Option[Item] = items.sortBy(_.price).headOption
  def describe: List[String] = for (i <- items; if i.price > 1) yield i match {
    case Book(t, p) => s"book $t for $p"
    case Tool(n, p, w) if w > 10 => s"heavy $n for $p"
    case Tool(n, p, _) => s"tool $n for $p"
  }
}

object Shop {
  def squares(n: Int): Stream[Int] = n #:: squares(n + 1).map(x => x * x % 97)
  @annotation.tailrec
  def gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b)
  def main(args: Array[String]): Unit = {
    val cart = new Cart(List(Book("a", 3), Tool("b", 5, 12.5)))
    println(cart.describe.mkString(", ") + squares(2).take(5).toList + gcd(12, 18))
  }
}
