/** A module with every kind of directive. */
@Deprecated
open module zoo.classes {
	requires transitive java.logging;
	requires static java.xml;
	exports zoo;
	exports zoo.spi to java.logging, java.xml;
	uses zoo.spi.Service;
	uses java.util.spi.ToolProvider;
	provides zoo.spi.Service with zoo.spi.Service.Plain, zoo.spi.Service.Fancy;
}
