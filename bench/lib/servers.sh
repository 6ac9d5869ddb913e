# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What benches of servers share, to be sourced: Tomcat with its examples and wrk's requests for it.
# Needs the top of the tree as the working directory.

TOMCAT=/usr/share/tomcat10
TOMCAT_EXAMPLES=/usr/share/tomcat10-examples/examples

# have_tomcat: false where its Debian package is not installed
have_tomcat() { [ -e $TOMCAT/bin/bootstrap.jar ] && [ -d $TOMCAT_EXAMPLES ]; }

. bench/lib/base.sh

# tomcat_base DIR PORT: a place for a Tomcat with its examples on that port of this machine only
tomcat_base() {
	mkdir -p "$1/conf" "$1/temp" "$1/logs" "$1/work" "$1/webapps"
	cat >"$1/conf/server.xml" <<-END
		<Server port="-1">
		<Service name="Catalina">
		<Connector address="127.0.0.1" port="$2" maxKeepAliveRequests="-1"/>
		<Engine name="Catalina" defaultHost="localhost">
		<Host name="localhost" appBase="webapps" deployOnStartup="false">
		<Context path="/examples" docBase="$TOMCAT_EXAMPLES"/>
		</Host>
		</Engine>
		</Service>
		</Server>
	END
	cat >"$1/conf/web.xml" <<-'END'
		<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
		<servlet>
		<servlet-name>default</servlet-name>
		<servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class>
		<load-on-startup>1</load-on-startup>
		</servlet>
		<servlet>
		<servlet-name>jsp</servlet-name>
		<servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class>
		<load-on-startup>3</load-on-startup>
		</servlet>
		<servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
		<servlet-mapping><servlet-name>jsp</servlet-name><url-pattern>*.jsp</url-pattern></servlet-mapping>
		</web-app>
	END
}

# tomcat_flags BASE: what java is told to run it
tomcat_flags() {
	echo "-Dcatalina.home=$TOMCAT -Dcatalina.base=$1 -Djava.io.tmpdir=$1/temp \
-cp $TOMCAT/bin/bootstrap.jar:$TOMCAT/bin/tomcat-juli.jar org.apache.catalina.startup.Bootstrap start"
}

# tomcat_pages FILE: a script for wrk, to ask for these in turn: servlets, a JSP, a file
tomcat_pages() {
	cat >"$1" <<-'END'
		local pages = { "servlets/servlet/HelloWorldExample", "servlets/servlet/RequestHeaderExample",
			"jsp/dates/date.jsp", "servlets/servlet/RequestParamExample?firstname=a&lastname=b", "index.html" }
		local at = 0
		request = function()
			at = at % #pages + 1
			return wrk.format("GET", "/examples/" .. pages[at])
		end
	END
}

# answers PORT PATH: does the server say 200?
answers() {
	local first
	exec 3<>"/dev/tcp/127.0.0.1/$1" || return
	printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
	read -r -t 60 first <&3
	exec 3>&-
	[[ $first == *' 200'* ]]
}
